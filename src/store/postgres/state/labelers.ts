import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { StoreReader, StoreWriter } from '../../port.ts';
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
import type { Queries } from '../base/session.ts';

/** Runs work in a transaction. */
export type Run = <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;

/** Creates the methods of the port that read labelers, their keys and their definitions. */
export function labelerReads(read: Run) {
  return {
    roster: () => read(readRoster),
    keys: (did) => read((queries) => readKeys(queries, did)),
    definitions: (did) => read((queries) => readDefinitions(queries, did)),
  } satisfies Partial<StoreReader>;
}

/** Creates the methods of the port that change labelers, their keys and their definitions. */
export function labelerChanges(change: Run) {
  return {
    dropRoster: (dids) => change((queries) => dropRoster(queries, dids)),
    putRoster: (rows) => change((queries) => putRoster(queries, rows)),
    putKeys: (keys) => change((queries) => putKeys(queries, keys)),
    putDefinitions: (revisions, shares) => change((queries) => putDefinitions(queries, revisions, shares)),
  } satisfies Partial<StoreWriter>;
}

interface LabelerRecord extends Omit<RosterRow, 'provenance' | 'handle'> {
  readonly provenance: string;
  readonly handle: string | null;
  readonly confirmed: boolean;
}

/** Columns of the table with their types, in the order of `valuesOf`. */
const columns = [
  ['did', 'text'],
  ['origin', 'text'],
  ['provenance', 'text'],
  ['enrolled', 'boolean'],
  ['resolution_status', 'text'],
  ['endpoint', 'text'],
  ['handle', 'text'],
  ['handle_confirmed', 'boolean'],
  ['state', 'text'],
  ['state_since', 'bigint'],
  ['first_asked', 'bigint'],
  ['first_answered', 'bigint'],
  ['last_answered', 'bigint'],
  ['failing_since', 'bigint'],
  ['complete_through', 'bigint'],
  ['dated', 'boolean'],
  ['undated', 'boolean'],
] as const;

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

/** Removes labelers with their keys. */
async function dropRoster(queries: Queries, dids: readonly string[]): Promise<void> {
  await queries.run('DELETE FROM labeler WHERE did = ANY ($1::text[])', [dids]);
  await queries.run('DELETE FROM label_key WHERE did = ANY ($1::text[])', [dids]);
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

/** Returns the keys of a labeler, oldest first. */
function readKeys(queries: Queries, did: string): Promise<LabelerKey[]> {
  return queries.rows<LabelerKey>(
    `SELECT did, label_key AS key, first_seen AS "firstSeen", last_seen AS "lastSeen" FROM label_key WHERE did = $1
     ORDER BY first_seen, label_key`,
    [did],
  );
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

/** Returns the stored revisions of a labeler's definitions, newest first. */
function readDefinitions(queries: Queries, did: string): Promise<Definitions[]> {
  const sql = 'SELECT did, seen_at AS "seenAt", content FROM definitions WHERE did = $1 ORDER BY id DESC';
  return queries.rows<Definitions>(sql, [did]);
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
