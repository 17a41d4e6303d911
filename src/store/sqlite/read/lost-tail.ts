import { StoreError } from '../../errors.ts';
import type { StoredGap } from '../../port.ts';
import { dayName, dayStart, type Interval, micros } from '../../time.ts';
import { dayPath, type OnFile, type StorePaths } from '../base/files.ts';
import { isAbsent } from '../base/store-error.ts';
import { DayReader } from '../day/day-reader.ts';
import { metaNames } from '../schema/day-schema.ts';
import { remedy } from '../state/lost-state.ts';
import type { Catalog, StateChanges } from '../state/state.ts';

/**
 * Interval in which the last commits of a day were lost. All rows of an open day may be in its write-ahead log, and
 * SQLite ignores the first damaged frame and all later frames. The loss is detected with the next day's file, which
 * records the day's last stamp.
 */
interface LostTail extends Interval {
  readonly day: number;
}

/** Records a gap for the lost commits of each day. The remaining rows of the day are kept. */
export function recordLostTails(paths: StorePaths, state: StateChanges, onFile: OnFile): void {
  for (const { day, start, end } of uncovered(paths, state.catalog().days, state)) {
    state.recordGap.immediate({ source: null, reason: 'unknown', start, end });
    const name = `${dayName(day)}.open.sqlite`;
    onFile({
      name,
      day: dayName(day),
      action: 'left',
      reason: 'the last commits of this day are lost; the lost time is recorded as a gap',
    });
  }
}

/** Throws `damaged` if a day has lost commits for which no gap is recorded. The next writer records the gap. */
export function assertNoLostTail(paths: StorePaths, days: Catalog['days'], state: GapQueries): void {
  const [lost] = uncovered(paths, days, state);
  if (!lost) return;
  throw new StoreError(
    'damaged',
    `the last commits of ${dayName(lost.day)} are lost; the next writer records the gap: ${remedy}`,
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
    // Skip sealed days, because their checksums detect lost rows.
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

/** Reads a day's file. Returns null if the day was sealed or dropped after it was listed. */
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
