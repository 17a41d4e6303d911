import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { type Interval, second } from '../../../src/store/time.ts';

/** Returns a problem if two values differ when formatted as JSON. */
export function differ(what: string, wanted: unknown, got: unknown): string[] {
  const [one, other] = [JSON.stringify(wanted), JSON.stringify(got)];
  return one === other ? [] : [`${what}: expected ${one}, got ${other}`];
}

/** Returns a problem if a timestamp lies outside an interval. If the interval is null, the timestamp must be null. */
export function outside(what: string, text: string | null, interval: Interval | null): string[] {
  if (text === null || interval === null) return (text === null) === (interval === null) ? [] : [`${what} is ${text}`];
  const at = parseTimestamp(text);
  // Allow a second of tolerance: the clocks are not read at the same time.
  if (at !== null && at >= interval.start - second && at <= interval.end + second) return [];
  return [`${what} is ${text}, expected ${dateOf(interval.start)} to ${dateOf(interval.end)}`];
}

/** Formats a time in microseconds as an ISO timestamp. */
export function dateOf(us: number): string {
  return new Date(us / 1000).toISOString();
}
