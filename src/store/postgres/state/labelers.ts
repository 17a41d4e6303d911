import { bounded } from '../../common/bounded.ts';
import { DefinitionSpace } from '../../common/definition-space.ts';
import {
  type DefinitionShares,
  type Definitions,
  type LabelerKey,
  maxDefinitionRevisions,
  maxDefinitionsInAll,
  maxDefinitionsLength,
  maxKeysPerLabeler,
  maxRosterTextLength,
} from '../../roster.ts';
import type { Queries } from '../base/session.ts';

/** Returns the keys of a labeler, oldest first. */
export function readKeys(queries: Queries, did: string): Promise<LabelerKey[]> {
  return queries.rows<LabelerKey>(
    `SELECT did, label_key AS key, first_seen AS "firstSeen", last_seen AS "lastSeen" FROM label_key WHERE did = $1
     ORDER BY first_seen, label_key`,
    [did],
  );
}

/** Adds or updates a labeler's key, and removes the oldest keys beyond the limit. */
export async function putKey(queries: Queries, { did, key, firstSeen, lastSeen }: LabelerKey): Promise<void> {
  bounded(key, maxRosterTextLength, 'key');
  await queries.run(
    `INSERT INTO label_key(did, label_key, first_seen, last_seen) VALUES ($1, $2, $3, $4)
     ON CONFLICT (did, label_key) DO UPDATE SET first_seen = least(label_key.first_seen, excluded.first_seen),
     last_seen = greatest(label_key.last_seen, excluded.last_seen)`,
    [did, key, firstSeen, lastSeen],
  );
  await queries.run(
    `DELETE FROM label_key WHERE did = $1 AND label_key NOT IN
     (SELECT k.label_key FROM label_key k WHERE k.did = $1 ORDER BY k.last_seen DESC, k.label_key LIMIT ${maxKeysPerLabeler})`,
    [did],
  );
}

/** Returns the stored revisions of a labeler's definitions, newest first. */
export function readDefinitions(queries: Queries, did: string): Promise<Definitions[]> {
  const sql = 'SELECT did, seen_at AS "seenAt", content FROM definitions WHERE did = $1 ORDER BY id DESC';
  return queries.rows<Definitions>(sql, [did]);
}

/** Adds a revision of a labeler's definitions; returns false if the newest revision has the same content. */
export async function putDefinitions(
  queries: Queries,
  { did, seenAt, content }: Definitions,
  shares: DefinitionShares | undefined,
  maxBytes = maxDefinitionsInAll,
): Promise<boolean> {
  bounded(content, maxDefinitionsLength, 'definitions');
  const [newest] = await queries.rows<{ content: string }>(
    'SELECT content FROM definitions WHERE did = $1 ORDER BY id DESC LIMIT 1',
    [did],
  );
  if (newest?.content === content) return false;
  await queries.run('INSERT INTO definitions(did, seen_at, content) VALUES ($1, $2, $3)', [did, seenAt, content]);
  await queries.run(
    `DELETE FROM definitions WHERE did = $1 AND id NOT IN
     (SELECT d.id FROM definitions d WHERE d.did = $1 ORDER BY d.id DESC LIMIT ${maxDefinitionRevisions})`,
    [did],
  );
  const [sum] = await queries.rows<{ bytes: number }>(
    'SELECT coalesce(sum(octet_length(content)), 0)::bigint AS bytes FROM definitions',
  );
  if ((sum?.bytes ?? 0) > maxBytes) await trimAll(queries, did, shares, maxBytes);
  return true;
}

/** Removes revisions until all definitions together are within the size limit. */
async function trimAll(
  queries: Queries,
  added: string,
  shares: DefinitionShares | undefined,
  maxBytes: number,
): Promise<void> {
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
  new DefinitionSpace(table, maxBytes).trim(added, shares);
  await queries.run('DELETE FROM definitions WHERE id = ANY ($1::bigint[])', [dropped]);
}
