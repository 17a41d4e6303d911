import { StoreError } from '../errors.ts';
import type { StoredGap } from '../port.ts';
import { dayName, dayStart, type Interval, micros } from '../time.ts';
import { isAbsent } from './connection.ts';
import { DayReader } from './day-reader.ts';
import { metaNames } from './day-schema.ts';
import type { OnFile } from './file-event.ts';
import { dayPath, type StorePaths } from './files.ts';
import { remedy } from './lost-state.ts';
import type { Catalog } from './state-read.ts';
import type { StateChanges } from './state-write.ts';

/**
 * The end of a day whose commits are gone. The rows of a day that is not sealed may all be in its write-ahead log, of
 * which SQLite ignores everything from the first damaged frame on. The following day knows how far the day reached.
 */
interface LostTail extends Interval {
  readonly day: number;
}

/** Records a gap over commits that are gone from a day; the rows that are left stay. */
export function recordLostTails(paths: StorePaths, state: StateChanges, onFile: OnFile): void {
  for (const { day, start, end } of uncovered(paths, state.catalog().days, state)) {
    state.recordGap.immediate({ source: null, reason: 'unknown', start, end });
    const name = `${dayName(day)}.open.sqlite`;
    onFile({
      name,
      day: dayName(day),
      action: 'left',
      reason: 'its last commits are gone: the time since is a gap now',
    });
  }
}

/** Throws `damaged` where commits are gone from a day and no gap says so yet: the next writer records it. */
export function assertNoLostTail(paths: StorePaths, days: Catalog['days'], state: GapQueries): void {
  const [lost] = uncovered(paths, days, state);
  if (!lost) return;
  throw new StoreError(
    'damaged',
    `${dayName(lost.day)}: its last commits are gone; a writer records the gap: ${remedy}`,
  );
}

interface GapQueries {
  gaps(interval: Interval): StoredGap[];
}

function uncovered(paths: StorePaths, days: Catalog['days'], state: GapQueries): LostTail[] {
  return lostTails(paths, days).filter(
    ({ start, end }) =>
      !state.gaps({ start, end }).some((gap) => gap.source === null && gap.start <= start && gap.end >= end),
  );
}

function lostTails(paths: StorePaths, days: Catalog['days']): LostTail[] {
  const found: LostTail[] = [];
  for (const [at, { day, sealed }] of days.entries()) {
    const next = days[at + 1];
    // A sealed day has checksums.
    if (sealed === 1 || next === undefined) continue;
    const ends = read(paths, { day, sealed }, (reader) => reader.ends());
    const carried = read(paths, next, (reader) => ({
      last: reader.meta(metaNames.carriedLast),
      through: reader.meta(metaNames.carriedThrough),
    }));
    if (!ends || !carried) continue;
    const [last, through] = [ends.last ?? 0, ends.through ?? 0];
    if (last >= (carried.last ?? 0) && through >= (carried.through ?? 0)) continue;
    const start = Math.max(dayStart(day), Math.min(last + 1, through));
    found.push({ day, start: micros(start), end: dayStart(day + 1) });
  }
  return found;
}

/** Null where the file was sealed or dropped meanwhile. */
function read<T>(paths: StorePaths, { day, sealed }: { day: number; sealed: number }, work: (reader: DayReader) => T) {
  const form = sealed === 1 ? 'sealed' : 'open';
  let reader: DayReader | null = null;
  try {
    reader = new DayReader(dayPath(paths, day, form), day, form);
    return work(reader);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  } finally {
    reader?.close();
  }
}
