import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { changedGaps, clip, coalesce, gappedTime } from '../../gaps.ts';
import type { GapChange, LabelerCoverage, StoredGap } from '../../port.ts';
import type { Interval } from '../../time.ts';
import type { Queries } from '../base/session.ts';

interface GapRow {
  readonly source: string;
  readonly started: Micros;
  readonly ended: Micros;
  readonly reason: GapReason;
}

/** Source name that stands for the whole instrument in stored gaps. */
const everySource = '';

/**
 * Returns the gaps in an interval. With `source`, returns the gaps of that source and of the whole instrument;
 * otherwise the gaps of all sources.
 */
export async function gapsIn(queries: Queries, interval: Interval, source?: string): Promise<StoredGap[]> {
  const found = await rowsIn(queries, interval, source === undefined ? null : [everySource, source]);
  return coalesce(found);
}

/** Returns the coverage of each labeler in an interval. */
export async function coverageIn(
  queries: Queries,
  interval: Interval,
  labelers: readonly string[],
): Promise<LabelerCoverage[]> {
  const bySource = Map.groupBy(await rowsIn(queries, interval, [everySource, ...labelers]), ({ source }) => source);
  const own = bySource.get(null) ?? [];
  return labelers.map((labeler) => {
    const gaps = coalesce([...own, ...(bySource.get(labeler) ?? [])]);
    return { labeler, gaps, gapped: gappedTime(gaps) };
  });
}

async function rowsIn(queries: Queries, interval: Interval, sources: readonly string[] | null): Promise<StoredGap[]> {
  const rows = await queries.rows<GapRow>(
    `SELECT source, started, ended, reason FROM gap WHERE ended > $1 AND started < $2
     AND ($3::text[] IS NULL OR source = ANY ($3))`,
    [interval.start, interval.end, sources],
  );
  return clip(rows.map(gapOf), interval);
}

/** Records and withdraws gaps; applies the changes of each source in the given order. */
export async function changeGaps(queries: Queries, changes: readonly GapChange[]): Promise<void> {
  for (const { gap } of changes) {
    if (!(gap.start < gap.end)) throw new StoreError('invalid_query', 'a gap must end after it starts');
  }
  for (const [source, of] of Map.groupBy(changes, ({ gap }) => gap.source ?? everySource)) {
    const sql = 'SELECT source, started, ended, reason FROM gap WHERE source = $1 ORDER BY started';
    const before = (await queries.rows<GapRow>(sql, [source])).map(gapOf);
    const after = of.reduce(changedGaps, before);
    await replace(queries, source, without(before, after), without(after, before));
  }
}

async function replace(
  queries: Queries,
  source: string,
  gone: readonly StoredGap[],
  added: readonly StoredGap[],
): Promise<void> {
  const columns = (gaps: readonly StoredGap[]) => [
    source,
    gaps.map(({ start }) => start),
    gaps.map(({ end }) => end),
    gaps.map(({ reason }) => reason),
  ];
  const list = 'unnest($2::bigint[], $3::bigint[], $4::text[]) AS g(started, ended, reason)';
  if (gone.length > 0) {
    const same = 'gap.started = g.started AND gap.ended = g.ended AND gap.reason = g.reason';
    await queries.run(`DELETE FROM gap USING ${list} WHERE gap.source = $1 AND ${same}`, columns(gone));
  }
  if (added.length > 0) {
    const columnNames = 'source, started, ended, reason';
    await queries.run(`INSERT INTO gap(${columnNames}) SELECT $1, g.* FROM ${list}`, columns(added));
  }
}

function without(gaps: readonly StoredGap[], others: readonly StoredGap[]): StoredGap[] {
  const keys = new Set(others.map((gap) => `${gap.start} ${gap.end} ${gap.reason}`));
  return gaps.filter((gap) => !keys.has(`${gap.start} ${gap.end} ${gap.reason}`));
}

function gapOf({ source, started, ended, reason }: GapRow): StoredGap {
  return { source: source === everySource ? null : source, start: started, end: ended, reason };
}
