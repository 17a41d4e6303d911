import type { Micros } from '../contract/timestamp.ts';

/** Calendar arithmetic on the observed clock. Days, hours and minutes are counted since 1970 in UTC. */

/** One second in microseconds. */
export const second = 1_000_000;
/** One minute in microseconds. */
export const minute = 60 * second;
/** One hour in microseconds. */
export const hour = 60 * minute;
/** One day in microseconds. */
export const day = 24 * hour;

/** An interval of the observed clock: start inclusive, end exclusive. */
export interface Interval {
  readonly start: Micros;
  readonly end: Micros;
}

/** Converts a number of microseconds to an instant. */
export function micros(value: number): Micros {
  return value as Micros;
}

/** Returns the UTC day that contains `at`, in days since 1970. `at` is in microseconds. */
export function dayOf(at: number): number {
  return Math.floor(at / day);
}

/** Returns the first instant of a day. */
export function dayStart(days: number): Micros {
  return micros(days * day);
}

/** Returns the name of a day, `YYYY-MM-DD`. */
export function dayName(days: number): string {
  return new Date(days * 86_400_000).toISOString().slice(0, 10);
}

/** Parses the name of a day; returns null if the text is not a valid day in the form `YYYY-MM-DD`. */
export function dayFromName(name: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(name)) return null;
  const days = Date.parse(`${name}T00:00:00Z`) / 86_400_000;
  return Number.isInteger(days) && dayName(days) === name ? days : null;
}

/**
 * Returns the age in days, counted from the start of a day, at which upkeep may remove the day. One more day than the
 * window is retained, for exports that are still running, and a day is removed as a whole. Upkeep removes the day some
 * minutes later, or after a purge. Texts therefore promise the removal of a row within one day more than this age.
 */
export function daysUntilExpiry(windowDays: number): number {
  return windowDays + 2;
}
