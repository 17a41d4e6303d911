import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { changedGaps, clip, coalesce, gappedTime } from '../../gaps.ts';
import type { GapChange, LabelerCoverage, StoredGap } from '../../port.ts';
import type { Interval } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';

/** A gap as a row of the table. */
export interface GapRow {
  source: string;
  started: Micros;
  ended: Micros;
  reason: GapReason;
}

/** Source name that stands for the whole instrument in stored gaps. */
export const everySource = '';

/** Creates the functions that query gaps. */
export function gapQueries(db: Sqlite) {
  const all = db.prepare<[number, number], GapRow>('SELECT * FROM gap WHERE ended > ? AND started < ?');
  const within = db.prepare<[string, number, number], GapRow>(
    'SELECT * FROM gap WHERE source = ? AND started < ? AND ended > ? ORDER BY started',
  );

  /** Returns the gaps of one source. Searches by the key of the table, so that gaps of other sources are not read. */
  function ofSource(source: string | null, interval: Interval): StoredGap[] {
    return clip(within.all(source ?? everySource, interval.end, interval.start).map(gapOf), interval);
  }

  return {
    gaps: (interval: Interval, source?: string): StoredGap[] =>
      source === undefined
        ? coalesce(clip(all.all(interval.start, interval.end).map(gapOf), interval))
        : coalesce([...ofSource(null, interval), ...ofSource(source, interval)]),
    coverage(interval: Interval, labelers: readonly string[]): LabelerCoverage[] {
      const own = ofSource(null, interval);
      return labelers.map((labeler) => {
        const gaps = coalesce([...own, ...ofSource(labeler, interval)]);
        return { labeler, gaps, gapped: gappedTime(gaps) };
      });
    },
  };
}

/** Creates the functions that change gaps. Each call is one durable commit. */
export function gapChanges(db: Sqlite) {
  const ofSource = db.prepare<[string], GapRow>('SELECT * FROM gap WHERE source = ? ORDER BY started');
  const insert = db.prepare('INSERT INTO gap(source, started, ended, reason) VALUES (?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM gap WHERE source = ? AND started = ? AND ended = ? AND reason = ?');

  function change(one: GapChange): void {
    const { gap } = one;
    if (!(gap.start < gap.end)) throw new StoreError('invalid_query', 'a gap must end after it starts');
    const source = gap.source ?? everySource;
    const before = ofSource.all(source).map(gapOf);
    const after = changedGaps(before, one);
    for (const { start, end, reason } of without(before, after)) remove.run(source, start, end, reason);
    for (const { start, end, reason } of without(after, before)) insert.run(source, start, end, reason);
  }

  return {
    recordGap: db.transaction((gap: StoredGap): void => change({ kind: 'record', gap })),
    withdrawGap: db.transaction((gap: StoredGap): void => change({ kind: 'withdraw', gap })),
    changeGaps: db.transaction((changes: readonly GapChange[]): void => {
      for (const one of changes) change(one);
    }),
  };
}

function without(gaps: readonly StoredGap[], others: readonly StoredGap[]): StoredGap[] {
  const keys = new Set(others.map((gap) => `${gap.start} ${gap.end} ${gap.reason}`));
  return gaps.filter((gap) => !keys.has(`${gap.start} ${gap.end} ${gap.reason}`));
}

function gapOf({ source, started, ended, reason }: GapRow): StoredGap {
  return { source: source === everySource ? null : source, start: started, end: ended, reason };
}
