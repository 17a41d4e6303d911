import type { ArchivedDay } from '../../src/facts/archive/model.ts';

/** A year of an archive, as the pages of the facts API read it. */

/** Length of a day in milliseconds. */
export const dayMs = 86_400_000;
/** Start of the newest day, in milliseconds since 1970. */
export const newest = Date.parse('2026-11-20T00:00:00Z');
/** Time on the newest day, in milliseconds since 1970, at which none of that day's hours is due in the archive yet. */
export const now = newest + 3_600_000;
/** Hours of a day. */
export const allHours = Array.from({ length: 24 }, (_, hour) => hour);

/** Returns the name of a day (`2026-11-20`) that contains the time `at`, in milliseconds since 1970. */
export function nameAt(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Returns a closed day that was observed as a whole, with `changes`. */
export function archived(day: string, changes: Partial<ArchivedDay> = {}): ArchivedDay {
  const sums = (count: number) => ({ count, observedSeconds: 86_400, wholeHours: allHours });
  return { day, isClosed: true, hasFirstTables: false, weather: sums(86_400 * 700), labels: sums(2_400), ...changes };
}

/** The year that ends with the newest day. */
export const year = Array.from({ length: 365 }, (_, at) => archived(nameAt(newest - (364 - at) * dayMs)));

/** Returns the year with values as large as those of a large network. Every `every`th day is partial. */
export function yearOf(every: number): ArchivedDay[] {
  return year.map((one, at) => {
    const wholeHours = at % every === 0 ? allHours.slice(1) : allHours;
    const sums = (count: number) => ({
      count: Math.round(count * (1 + Math.sin(at) / 3)),
      observedSeconds: 80_000,
      wholeHours,
    });
    return archived(one.day, { weather: sums(86_400 * 1_234), labels: sums(1_234_567) });
  });
}

/**
 * The longest list of known issues: the maximum number of issues, each of the maximum length and of characters that
 * take the most bytes in HTML.
 */
export const longestIssues = Array.from({ length: 1_000 }, (_, at) => ({
  ...{ id: `${at}`.padStart(64, 'a'), source: 'publication', summary: '"'.repeat(1_000) },
  ...{ reported_at: '2026-11-20T00:00:00Z', start: '2025-11-21T10:00:00.123456789Z', end: null },
}));
