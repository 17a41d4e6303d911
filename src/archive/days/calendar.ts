/** Days and hours of the archive, in UTC. Days have the form `2026-11-20`, hours `2026-11-20T13:00:00Z`. */

/** Length of an hour, in milliseconds. */
export const hourMs = 3_600_000;
/** Length of a day, in milliseconds. */
export const dayMs = 24 * hourMs;
/** Minimum delay between the end of a day and its closing, in milliseconds. */
export const closeAfterMs = 48 * hourMs;

/** Returns the hour that contains the time `at` (milliseconds since 1970). */
export function hourOf(at: number): string {
  return instantOf(Math.floor(at / hourMs) * hourMs);
}

/** Returns the time `at` (milliseconds since 1970) without its fraction of a second, such as `2026-11-20T13:00:05Z`. */
export function instantOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Returns the day that contains the time `at` (milliseconds since 1970). */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Returns the start of a day, in milliseconds since 1970. */
export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Returns the day that is `count` days after `day`; `count` may be negative. */
export function addDays(day: string, count: number): string {
  return dayOf(startOf(day) + count * dayMs);
}

/** Returns the earliest time at which a day may be closed, in milliseconds since 1970. */
export function closesAt(day: string): number {
  return startOf(day) + dayMs + closeAfterMs;
}

/** Returns true if the text is an existing calendar day in the form `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(startOf(text)) && dayOf(startOf(text)) === text;
}

/** Returns the hours of a day that begin before `until` (milliseconds since 1970). */
export function hoursOf(day: string, until = Number.POSITIVE_INFINITY): string[] {
  const starts = Array.from({ length: 24 }, (_, hour) => startOf(day) + hour * hourMs);
  return starts.filter((start) => start < until).map(hourOf);
}
