import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { changedGaps, clip, coalesce, everySource, type GapRow, gapOf, gappedTime, gapsWithout } from '../../gaps.ts';
import type { RefusedRows } from '../../label.ts';
import type { GapChange, LabelerCoverage, StoredGap, StoreReader, StoreWriter } from '../../port.ts';
import type { Purge } from '../../removals.ts';
import {
  assertRosterBounds,
  bounded,
  type DefinitionShares,
  DefinitionSpace,
  type Definitions,
  type LabelerKey,
  labelerHandle,
  maxDefinitionsLength,
  type RosterRow,
  rosterLimits,
} from '../../roster.ts';
import { type Interval, micros } from '../../time.ts';
import type { Queries } from '../base/session.ts';

/** Runs work in a transaction. */
type Run = <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;

/**
 * Creates the methods of the port that read small tables. `readInterval` runs work once the server has received
 * everything before the end of the interval.
 */
export function tableReads(
  read: Run,
  readInterval: <T>(interval: Interval, work: (queries: Queries) => Promise<T>) => Promise<T>,
) {
  return {
    roster: () => read(readRoster),
    keys: (did) =>
      read((queries) =>
        queries.rows<LabelerKey>(
          `SELECT did, label_key AS key, first_seen AS "firstSeen", last_seen AS "lastSeen" FROM label_key
           WHERE did = $1 ORDER BY first_seen, label_key`,
          [did],
        ),
      ),
    definitions: (did) =>
      read((queries) =>
        queries.rows<Definitions>(
          'SELECT did, seen_at AS "seenAt", content FROM definitions WHERE did = $1 ORDER BY id DESC',
          [did],
        ),
      ),
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
    dailyBytes: (day) =>
      read(async (queries) => {
        const sql = 'SELECT source, bytes FROM daily_bytes WHERE day = $1';
        const rows = await queries.rows<{ source: string; bytes: number }>(sql, [day]);
        return { day, bytes: new Map(rows.map(({ source, bytes }) => [source, bytes])) };
      }),
    directoryPosition: (host) =>
      read(async (queries) => {
        const sql = 'SELECT seq FROM directory_position WHERE host = $1';
        return (await queries.rows<{ seq: number }>(sql, [host]))[0]?.seq ?? null;
      }),
  } satisfies Partial<StoreWriter>;
}

/** Creates the methods of the port that change small tables. */
export function stateChanges(change: Run) {
  return {
    dropRoster: (dids) =>
      change(async (queries) => {
        for (const table of ['labeler', 'label_key', 'definitions']) {
          await queries.run(`DELETE FROM ${table} WHERE did = ANY ($1::text[])`, [dids]);
        }
      }),
    putRoster: (rows) => change((queries) => putRoster(queries, rows)),
    putKeys: (keys) => change((queries) => putKeys(queries, keys)),
    putDefinitions: (revisions, shares) => change((queries) => putDefinitions(queries, revisions, shares)),
    recordGap: (gap) => change((queries) => changeGaps(queries, [{ kind: 'record', gap }])),
    withdrawGap: (gap) => change((queries) => changeGaps(queries, [{ kind: 'withdraw', gap }])),
    changeGaps: (changes) => change((queries) => changeGaps(queries, changes)),
    putDailyBytes: ({ day, bytes }) =>
      change(async (queries) => {
        await queries.run('DELETE FROM daily_bytes WHERE day <> $1', [day]);
        await queries.run(
          `INSERT INTO daily_bytes(day, source, bytes) SELECT $1, * FROM unnest($2::text[], $3::bigint[])
           ON CONFLICT (source) DO UPDATE SET bytes = excluded.bytes WHERE daily_bytes.bytes <> excluded.bytes`,
          [day, [...bytes.keys()], [...bytes.values()]],
        );
      }),
    putDirectoryPosition: ({ host, seq }) =>
      change(async (queries) => {
        await queries.run('DELETE FROM directory_position WHERE host <> $1', [host]);
        const put = 'INSERT INTO directory_position(host, seq) VALUES ($1, $2)';
        await queries.run(`${put} ON CONFLICT (host) DO UPDATE SET seq = excluded.seq`, [host, seq]);
      }),
    putNote: (name, text) =>
      change(async (queries) => {
        if (text === null) {
          await queries.run('DELETE FROM note WHERE name = $1', [name]);
          return;
        }
        const put = 'INSERT INTO note(name, content) VALUES ($1, $2)';
        await queries.run(`${put} ON CONFLICT (name) DO UPDATE SET content = excluded.content`, [
          ...[name, bounded(text, rosterLimits.noteLength, 'note')],
        ]);
      }),
    endReads: (revision) =>
      change(async (queries) => {
        await queries.run('UPDATE store SET revision = greatest(revision, $1) + 1', [revision]);
      }),
    requestPurge: (request) => change((queries) => requestPurge(queries, request)),
  } satisfies Partial<StoreWriter>;
}

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
    await replace(queries, source, gapsWithout(before, after), gapsWithout(after, before));
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
  // The update waits for an append in progress, whose rows the purge also removes.
  const [updated] = await queries.rows<{ last: Micros | null }>(
    'UPDATE store SET revision = revision + 1 RETURNING last_stamp AS last',
  );
  const end = micros(Math.max(at, (updated?.last ?? 0) + 1));
  await changeGaps(queries, [{ kind: 'record', gap: { source, start: floor, end, reason: 'maintenance' } }]);
  return true;
}

interface LabelerRecord extends Omit<RosterRow, 'provenance' | 'handle'> {
  readonly provenance: string;
  readonly handle: string | null;
  readonly confirmed: boolean;
}

/** Columns of the table with their types, in the order of `valuesOf`. */
const columns = `did text, origin text, provenance text, enrolled boolean, resolution_status text, endpoint text,
  handle text, handle_confirmed boolean, state text, state_since bigint, first_asked bigint, first_answered bigint,
  last_answered bigint, failing_since bigint, complete_through bigint, dated boolean, undated boolean`
  .split(',')
  .map((column) => column.trim().split(' '));

/** Returns all roster rows, sorted by DID. */
export async function readRoster(queries: Queries): Promise<RosterRow[]> {
  const rows = await queries.rows<LabelerRecord>(
    `SELECT did, origin, provenance, enrolled, resolution_status AS "resolutionStatus", endpoint, handle,
     handle_confirmed AS confirmed, state, state_since AS "stateSince", first_asked AS "firstAsked",
     first_answered AS "firstAnswered", last_answered AS "lastAnswered", failing_since AS "failingSince",
     complete_through AS "completeThrough", dated, undated FROM labeler ORDER BY did`,
  );
  return rows.map(({ provenance, handle, confirmed, ...row }) => ({
    ...row,
    provenance: textsIn(provenance),
    handle: labelerHandle(handle, confirmed),
  }));
}

/** Adds or replaces roster rows. */
export async function putRoster(queries: Queries, rows: readonly RosterRow[]): Promise<void> {
  for (const row of rows) assertRosterBounds(row);
  const last = [...new Map(rows.map((row) => [row.did, row])).values()];
  if (last.length === 0) return;
  const values = last.map(valuesOf);
  const names = columns.map(([name]) => name);
  await queries.run(
    `INSERT INTO labeler(${names.join(', ')})
     SELECT * FROM unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')})
     ON CONFLICT (did) DO UPDATE SET ${names.slice(1).map((name) => `${name} = excluded.${name}`)}`,
    columns.map((_, i) => values.map((row) => row[i] ?? null)),
  );
}

function valuesOf(row: RosterRow): readonly (string | number | boolean | Micros | null)[] {
  const { did, origin, endpoint, resolutionStatus, handle, state, stateSince } = row;
  const { firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough } = row;
  return [
    ...[did, origin, JSON.stringify(row.provenance), row.enrolled, resolutionStatus, endpoint],
    ...[handle?.name ?? null, handle?.confirmed ?? false, state, stateSince],
    ...[firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough, row.dated, row.undated],
  ];
}

function textsIn(json: string): readonly string[] {
  const texts: unknown = JSON.parse(json);
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw new StoreError('damaged', 'the provenance of a labeler is not a list of strings');
}

/** Adds or updates labelers' keys, and removes the least recently seen keys beyond the limit. */
async function putKeys(queries: Queries, keys: readonly LabelerKey[]): Promise<void> {
  for (const { key } of keys) bounded(key, rosterLimits.textLength, 'key');
  // One statement must not update a row twice, so group the entries of one key first.
  await queries.run(
    `INSERT INTO label_key(did, label_key, first_seen, last_seen)
     SELECT did, label_key, min(first_seen), max(last_seen)
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS t(did, label_key, first_seen, last_seen)
     GROUP BY did, label_key
     ON CONFLICT (did, label_key) DO UPDATE SET first_seen = least(label_key.first_seen, excluded.first_seen),
     last_seen = greatest(label_key.last_seen, excluded.last_seen)`,
    [
      keys.map(({ did }) => did),
      keys.map(({ key }) => key),
      keys.map(({ firstSeen }) => firstSeen),
      keys.map(({ lastSeen }) => lastSeen),
    ],
  );
  await queries.run(
    `DELETE FROM label_key USING (
       SELECT did, label_key, row_number() OVER (PARTITION BY did ORDER BY last_seen DESC, label_key) AS place
       FROM label_key WHERE did = ANY ($1)
     ) AS one
     WHERE label_key.did = one.did AND label_key.label_key = one.label_key AND place > ${rosterLimits.keys}`,
    [[...new Set(keys.map(({ did }) => did))]],
  );
}

/**
 * Adds revisions of labelers' definitions. Returns one value per revision, in order: false if the newest revision has
 * the same content.
 */
async function putDefinitions(
  queries: Queries,
  revisions: readonly Definitions[],
  shares: DefinitionShares | undefined,
  maxBytes = rosterLimits.definitionBytes,
): Promise<boolean[]> {
  for (const { content } of revisions) bounded(content, maxDefinitionsLength, 'definitions');
  const dids = [...new Set(revisions.map(({ did }) => did))];
  const stored = await queries.rows<{ did: string; content: string }>(
    'SELECT DISTINCT ON (did) did, content FROM definitions WHERE did = ANY ($1) ORDER BY did, id DESC',
    [dids],
  );
  const newest = new Map(stored.map(({ did, content }) => [did, content]));
  const added = revisions.map(({ did, content }) => {
    const isNew = newest.get(did) !== content;
    newest.set(did, content);
    return isNew;
  });
  if (!added.includes(true)) return added;
  await addRevisions(
    queries,
    revisions.filter((_, i) => added[i]),
  );
  const [sum] = await queries.rows<{ bytes: number }>(
    'SELECT coalesce(sum(octet_length(content)), 0)::bigint AS bytes FROM definitions',
  );
  if ((sum?.bytes ?? 0) > maxBytes) await trimAll(queries, shares, maxBytes);
  return added;
}

/** Adds revisions, and removes the oldest revisions beyond `rosterLimits.revisions` of each labeler. */
async function addRevisions(queries: Queries, revisions: readonly Definitions[]): Promise<void> {
  const dids = revisions.map(({ did }) => did);
  await queries.run(
    `INSERT INTO definitions(did, seen_at, content)
     SELECT did, seen_at, content
     FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS t(did, seen_at, content, place)
     ORDER BY place`,
    [dids, revisions.map(({ seenAt }) => seenAt), revisions.map(({ content }) => content)],
  );
  await queries.run(
    `DELETE FROM definitions USING (
       SELECT id, row_number() OVER (PARTITION BY did ORDER BY id DESC) AS place FROM definitions WHERE did = ANY ($1)
     ) AS one
     WHERE definitions.id = one.id AND place > ${rosterLimits.revisions}`,
    [[...new Set(dids)]],
  );
}

/** Removes revisions until all definitions together are within the size limit. */
async function trimAll(queries: Queries, shares: DefinitionShares | undefined, maxBytes: number): Promise<void> {
  const all = await queries.rows<{ id: number; did: string; bytes: number }>(
    'SELECT id, did, octet_length(content) AS bytes FROM definitions ORDER BY did, id DESC',
  );
  const byDid = Map.groupBy(all, ({ did }) => did);
  const dropped: number[] = [];
  const bytesOf = (did: string): number[] => (byDid.get(did) ?? []).map(({ bytes }) => bytes);
  const table = {
    sizes: () =>
      [...byDid.keys()].map((did) => {
        const sizes = bytesOf(did);
        return { did, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0), newest: sizes[0] ?? 0 };
      }),
    sizesOf: bytesOf,
    dropOldest: (did: string): number | undefined => {
      const oldest = byDid.get(did)?.pop();
      if (oldest) dropped.push(oldest.id);
      return oldest?.bytes;
    },
  };
  new DefinitionSpace(table, maxBytes).trim([], shares);
  await queries.run('DELETE FROM definitions WHERE id = ANY ($1::bigint[])', [dropped]);
}
