import { addDays, closesAt, hourMs } from './days/calendar.ts';
import { factNames, lineFileOf } from './days/facts.ts';
import { pathOf } from './days/paths.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import type { DayLog } from './signing/day-log.ts';

/** Minimum age of the last archived hour at which the archive counts as paused, in milliseconds. */
const pauseMs = 2 * hourMs;

/**
 * Returns the last archived hour if it is at least two hours ago and a day has since become due for closing;
 * otherwise null. After such a pause, the directory may be an older copy: the original may have kept running, and may
 * already have closed and published the day with other files.
 */
export function pausedSince(files: ArchiveFiles, log: DayLog, now: number): string | null {
  const last = lastArchivedHour(files);
  const closed = log.leaves().at(-1)?.day;
  const next = closed === undefined ? files.days()[0] : addDays(closed, 1);
  if (last === null || next === undefined || now - Date.parse(last) < pauseMs) return null;
  return closesAt(next) > Date.parse(last) && closesAt(next) <= now ? last : null;
}

function lastArchivedHour(files: ArchiveFiles): string | null {
  for (const day of files.days().toReversed()) {
    const hours = factNames.map((name) =>
      lastHourIn(files.read(pathOf(day, lineFileOf(name)))?.toString('utf8') ?? ''),
    );
    const last = hours.sort().at(-1) ?? '';
    if (last !== '') return last;
  }
  return null;
}

/** Returns the hour of the last complete line; an empty string if there is none. */
export function lastHourIn(text: string): string {
  const lines = text.slice(0, Math.max(0, text.lastIndexOf('\n'))).split('\n');
  return /^\{"hour":"([^"]{20})"/.exec(lines.at(-1) ?? '')?.[1] ?? '';
}
