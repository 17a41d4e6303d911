import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { type Interval, second } from '../../../src/store/time.ts';

/** Returns a problem if two values differ as JSON. */
export function differ(what: string, wanted: unknown, got: unknown): string[] {
  const [one, other] = [JSON.stringify(wanted), JSON.stringify(got)];
  return one === other ? [] : [`${what}: ${other}, not ${one}`];
}

/** Returns a problem if a timestamp is not within an interval; with null, the timestamp must be null. */
export function outside(what: string, text: string | null, interval: Interval | null): string[] {
  if (text === null || interval === null) return (text === null) === (interval === null) ? [] : [`${what} is ${text}`];
  const at = parseTimestamp(text);
  // The clocks are read at different times.
  if (at !== null && at >= interval.start - second && at <= interval.end + second) return [];
  return [`${what} is ${text}, not from ${dateOf(interval.start)} to ${dateOf(interval.end)}`];
}

/** Returns an instant in microseconds as text. */
export function dateOf(us: number): string {
  return new Date(us / 1000).toISOString();
}
