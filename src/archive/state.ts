import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs, dayOf } from './days/calendar.ts';
import { issuesFile, parseIssues } from './days/known-issues.ts';
import { factNames, lineFileOf } from './days/line.ts';
import { indexFile, parseIndex, pathOf } from './days/records.ts';

/** State of an archive, as its files show it to an operator. */
export interface ArchiveState {
  /** Days of the archive by state, or null if the directory contains no readable index. */
  readonly days: {
    readonly closed: number;
    readonly open: number;
    /**
     * Last hour of today or yesterday by which every fact was archived, in milliseconds since 1970, or 0 if there is none.
     * A refusal of the facts API counts as archived; an hour without a response does not. The hour is in the future if the
     * clock was set back.
     */
    readonly lastHour: number;
  } | null;
  /**
   * Number of known issues, which is 0 without their file, or null if the file is invalid, so that no day gets new issues.
   */
  readonly issues: number | null;
}

/**
 * Reads the state of the archive in a directory. `now` is in milliseconds since 1970. A file that cannot be read counts as
 * missing.
 */
export function archiveState(folder: string, now: number): ArchiveState {
  const index = parseIndex(bytesOf(folder, indexFile) ?? Buffer.alloc(0));
  const listed = bytesOf(folder, issuesFile);
  return { days: index && daysOf(index.days, folder, now), issues: listed ? (parseIssues(listed)?.length ?? null) : 0 };
}

function daysOf(days: readonly { readonly state: string }[], folder: string, now: number): ArchiveState['days'] {
  const closed = days.filter(({ state }) => state === 'closed').length;
  const lastHour = Math.min(...factNames.map((name) => lastHourOf(folder, lineFileOf(name), now)));
  return { closed, open: days.length - closed, lastHour };
}

/** Start of the line of a response, up to its status. The status of an hour without a response is null. */
const responseStart = /^\{"hour":"([^"]{20})","at":"[^"]{24}","path":"[^"]+","status":\d/gm;

function lastHourOf(folder: string, name: string, now: number): number {
  for (const day of [dayOf(now), dayOf(now - dayMs)]) {
    const lines = bytesOf(folder, pathOf(day, name))?.toString('utf8') ?? '';
    const hours = [...lines.matchAll(responseStart)];
    const last = Date.parse(hours.at(-1)?.[1] ?? '');
    if (!Number.isNaN(last)) return last;
  }
  return 0;
}

function bytesOf(folder: string, path: string): Buffer | null {
  try {
    return readFileSync(join(folder, path));
  } catch {
    return null;
  }
}
