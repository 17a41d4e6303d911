import type { ExportManifest } from '../contract/account.ts';
import type { FittingInterval } from '../contract/errors.ts';
import { type Micros, parseInstant } from '../contract/timestamp.ts';
import { ExportFailure } from './failure.ts';

/** Requested interval: the last `days`, or an explicit start (inclusive) and end (exclusive) as text. */
export type AskedInterval =
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'explicit'; readonly start: string; readonly end: string }
  /**
   * A part of a larger interval. Only the first part may start before the window, and only the last part may end
   * after the window.
   */
  | {
      readonly kind: 'part';
      readonly start: string;
      readonly end: string;
      readonly first: boolean;
      readonly last: boolean;
    };

/** Returns the query parameters of an interval. */
export function intervalQuery(asked: AskedInterval): Record<string, string> {
  return asked.kind === 'days' ? { days: String(asked.days) } : { start: asked.start, end: asked.end };
}

/**
 * Throws ExportFailure unless the export's interval is the requested one, or is a part of the requested one and
 * marked as clipped. A part of a larger interval may be clipped only at the outer ends of that interval. If a number
 * of days was requested, checks only that the interval is neither empty nor longer than that number of days.
 */
export function checkInterval(asked: AskedInterval, { interval, clipped }: ExportManifest): void {
  const [start, end] = [instant(interval.start), instant(interval.end)];
  if (start >= end) throw other();
  if (asked.kind === 'days') {
    if (end - start > asked.days * 86_400_000_000) throw other();
    return;
  }
  const [wantedStart, wantedEnd] = [instant(asked.start), instant(asked.end)];
  if (start < wantedStart || end > wantedEnd) throw other();
  if (!clipped && (start !== wantedStart || end !== wantedEnd)) throw other();
  if (asked.kind !== 'part') return;
  if ((start !== wantedStart && !asked.first) || (end !== wantedEnd && !asked.last)) throw other();
}

/**
 * Returns the parts that the service lists; an empty list if it lists no parts. Throws ExportFailure unless listed
 * parts are adjacent and together cover the requested interval.
 */
export function partsOf(asked: AskedInterval, intervals: readonly FittingInterval[]): AskedInterval[] {
  const [first] = intervals;
  if (!first) return [];
  let end: Micros = instant(first.start);
  for (const part of intervals) {
    if (instant(part.start) !== end || instant(part.end) <= end) throw apart();
    end = instant(part.end);
  }
  if (asked.kind === 'days') {
    if (end - instant(first.start) !== asked.days * 86_400_000_000) throw apart();
  } else if (instant(first.start) !== instant(asked.start) || end !== instant(asked.end)) throw apart();
  const whole = asked.kind === 'part' ? asked : { first: true, last: true };
  return intervals.map((part, index) => ({
    kind: 'part',
    start: part.start,
    end: part.end,
    first: whole.first && index === 0,
    last: whole.last && index === intervals.length - 1,
  }));
}

function instant(text: string): Micros {
  const at = parseInstant(text);
  if (at === null) throw other();
  return at;
}

function other(): ExportFailure {
  return new ExportFailure('damaged', 'the service sent an export for a different interval than requested');
}

function apart(): ExportFailure {
  return new ExportFailure('damaged', 'the service listed parts that do not cover the requested interval');
}
