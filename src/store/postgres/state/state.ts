import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { changedGaps, clip, coalesce, gappedTime } from '../../gaps.ts';
import type { RefusedRows } from '../../label.ts';
import type { GapChange, LabelerCoverage, StoredGap, StoreReader, StoreWriter } from '../../port.ts';
import type { Purge } from '../../removals.ts';
import { bounded, type DailyBytes, type DirectoryPosition, rosterLimits } from '../../roster.ts';
import { type Interval, micros } from '../../time.ts';
import type { Queries } from '../base/session.ts';
import { labelerChanges, labelerReads, type Run } from './labelers.ts';

/**
 * Creates the methods of the port that read small tables. `readInterval` runs work once the server has received
 * everything before the end of the interval.
 */
export function tableReads(
  read: Run,
  readInterval: <T>(interval: Interval, work: (queries: Queries) => Promise<T>) => Promise<T>,
) {
  return {
    ...labelerReads(read),
    gaps: ({ source, ...interval }) =>
      readInterval(interval, async (queries) =>
        coalesce(await rowsIn(queries, interval, source === undefined ? null : [everySource, source])),
      ),
    coverage: ({ labelers, ...interval }) =>
      readInterval(interval, (queries) => coverageIn(queries, interval, labelers)),
    purges: () => read(readPurges),
    note: (name) =>
      read(async (queries) => {
        const [row] = await queries.rows<{ content: string }>('SELECT content FROM note WHERE name = $1', [name]);
        return row?.content ?? null;
      }),
  } satisfies Partial<StoreReader>;
}

/** Creates the methods of the port that read the state of the instrument, for the writer and its standby. */
export function instrumentReads(read: Run) {
  return {
    refusedRows: () =>
      read((queries) => queries.rows<RefusedRows>('SELECT source, bucket, rows FROM refused_rows ORDER BY 1, 2')),
    dailyBytes: (day) => read((queries) => readDailyBytes(queries, day)),
    directoryPosition: (host) => read((queries) => readDirectoryPosition(queries, host)),
  } satisfies Partial<StoreWriter>;
}

/** Creates the methods of the port that change small tables. */
export function stateChanges(change: Run) {
  return {
    ...labelerChanges(change),
    recordGap: (gap) => change((queries) => changeGaps(queries, [{ kind: 'record', gap }])),
    withdrawGap: (gap) => change((queries) => changeGaps(queries, [{ kind: 'withdraw', gap }])),
    changeGaps: (changes) => change((queries) => changeGaps(queries, changes)),
    putDailyBytes: (bytes) => change((queries) => putDailyBytes(queries, bytes)),
    putDirectoryPosition: (position) => change((queries) => putDirectoryPosition(queries, position)),
    putNote: (name, text) => change((queries) => putNote(queries, name, text)),
    endReads: (revision) =>
      change(async (queries) => {
        await queries.run('UPDATE store SET revision = greatest(revision, $1) + 1', [revision]);
      }),
    requestPurge: (request) => change((queries) => requestPurge(queries, request)),
  } satisfies Partial<StoreWriter>;
}

interface GapRow {
  readonly source: string;
  readonly started: Micros;
  readonly ended: Micros;
  readonly reason: GapReason;
}

/** Source name that stands for the whole instrument in stored gaps. */
const everySource = '';

/** Returns the coverage of each labeler in an interval. */
async function coverageIn(
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
async function changeGaps(queries: Queries, changes: readonly GapChange[]): Promise<void> {
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
  if (added.length > 0)
    await queries.run(`INSERT INTO gap(source, started, ended, reason) SELECT $1, g.* FROM ${list}`, columns(added));
}

function without(gaps: readonly StoredGap[], others: readonly StoredGap[]): StoredGap[] {
  const keys = new Set(others.map((gap) => `${gap.start} ${gap.end} ${gap.reason}`));
  return gaps.filter((gap) => !keys.has(`${gap.start} ${gap.end} ${gap.reason}`));
}

function gapOf({ source, started, ended, reason }: GapRow): StoredGap {
  return { source: source === everySource ? null : source, start: started, end: ended, reason };
}

/** Maximum number of stored purge requests. A request is removed once the floor is after its completion. */
const maxPurges = 20_000;

/** Returns the requested purges, by request time, then by DID. */
export function readPurges(queries: Queries): Promise<Purge[]> {
  return queries.rows<Purge>(
    `SELECT source, requested_at AS "requestedAt", completed_at AS "completedAt", removed AS rows,
     CASE WHEN completed_at IS NULL THEN (SELECT count(*) FROM day WHERE day >= next_day) ELSE 0 END AS "daysLeft"
     FROM purge ORDER BY requested_at, source`,
  );
}

/**
 * Requests a purge. Returns false if `at` is not after the floor, or if a request for the source with the same or a
 * later time exists. Throws `invalid_query` if the store already has the maximum number of requests.
 */
async function requestPurge(
  queries: Queries,
  { source, at }: { readonly source: string; readonly at: Micros },
): Promise<boolean> {
  const [row] = await queries.rows<{ floor: Micros; before: Micros | null; requests: number }>(
    `SELECT floor, (SELECT requested_at FROM purge WHERE source = $1) AS before,
     (SELECT count(*) FROM purge) AS requests FROM store`,
    [source],
  );
  const { floor = micros(0), before = null, requests = 0 } = row ?? {};
  if (at <= floor || (before !== null && before >= at)) return false;
  if (before === null && requests >= maxPurges) {
    throw new StoreError('invalid_query', `a store holds at most ${maxPurges} purge requests`);
  }
  await queries.run(
    `INSERT INTO purge(source, requested_at) VALUES ($1, $2)
     ON CONFLICT (source) DO UPDATE SET requested_at = excluded.requested_at, completed_at = NULL, next_day = 0`,
    [source, at],
  );
  await queries.run('UPDATE store SET revision = revision + 1');
  await changeGaps(queries, [{ kind: 'record', gap: { source, start: floor, end: at, reason: 'maintenance' } }]);
  return true;
}

/** Stores a note; deletes it if `text` is null. */
async function putNote(queries: Queries, name: string, text: string | null): Promise<void> {
  if (text === null) {
    await queries.run('DELETE FROM note WHERE name = $1', [name]);
    return;
  }
  await queries.run(
    'INSERT INTO note(name, content) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET content = excluded.content',
    [name, bounded(text, rosterLimits.noteLength, 'note')],
  );
}

/** Returns the number of bytes that each source added on a day. */
async function readDailyBytes(queries: Queries, day: number): Promise<DailyBytes> {
  const sql = 'SELECT source, bytes FROM daily_bytes WHERE day = $1';
  const rows = await queries.rows<{ source: string; bytes: number }>(sql, [day]);
  return { day, bytes: new Map(rows.map(({ source, bytes }) => [source, bytes])) };
}

/** Stores the number of bytes that sources added on a day, and removes the numbers of other days. */
async function putDailyBytes(queries: Queries, { day, bytes }: DailyBytes): Promise<void> {
  await queries.run('DELETE FROM daily_bytes WHERE day <> $1', [day]);
  await queries.run(
    `INSERT INTO daily_bytes(day, source, bytes) SELECT $1, * FROM unnest($2::text[], $3::bigint[])
     ON CONFLICT (source) DO UPDATE SET bytes = excluded.bytes WHERE daily_bytes.bytes <> excluded.bytes`,
    [day, [...bytes.keys()], [...bytes.values()]],
  );
}

/** Returns the position in the operation stream of a directory, or null if no position is stored. */
async function readDirectoryPosition(queries: Queries, host: string): Promise<number | null> {
  const [row] = await queries.rows<{ seq: number }>('SELECT seq FROM directory_position WHERE host = $1', [host]);
  return row?.seq ?? null;
}

/** Stores the position in a directory's operation stream, and removes the position of any other directory. */
async function putDirectoryPosition(queries: Queries, { host, seq }: DirectoryPosition): Promise<void> {
  await queries.run('DELETE FROM directory_position WHERE host <> $1', [host]);
  await queries.run(
    'INSERT INTO directory_position(host, seq) VALUES ($1, $2) ON CONFLICT (host) DO UPDATE SET seq = excluded.seq',
    [host, seq],
  );
}
