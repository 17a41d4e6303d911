import { bounded, DefinitionSpace, type DefinitionTable } from '../../common/definition-space.ts';
import {
  type DefinitionShares,
  type Definitions,
  type LabelerKey,
  maxDefinitionRevisions,
  maxDefinitionsLength,
  maxKeysPerLabeler,
  maxRosterTextLength,
} from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';

/** Creates the functions that query labelers' keys and definitions. */
export function labelerQueries(db: Sqlite) {
  const keys = db.prepare<[string], LabelerKey>(
    `SELECT did, label_key AS key, first_seen AS firstSeen, last_seen AS lastSeen FROM label_key WHERE did = ?
     ORDER BY first_seen, label_key`,
  );
  const definitions = db.prepare<[string], Definitions>(
    'SELECT did, seen_at AS seenAt, content FROM definitions WHERE did = ? ORDER BY id DESC',
  );
  return {
    keys: (did: string): LabelerKey[] => keys.all(did),
    definitions: (did: string): Definitions[] => definitions.all(did),
  };
}

/** Creates the function that changes labelers' keys. Each call is one durable commit. */
export function keyChanges(db: Sqlite) {
  const put = db.prepare(
    `INSERT INTO label_key(did, label_key, first_seen, last_seen) VALUES (?, ?, ?, ?)
     ON CONFLICT(did, label_key) DO UPDATE SET first_seen = MIN(first_seen, excluded.first_seen),
     last_seen = MAX(last_seen, excluded.last_seen)`,
  );
  const trim = db.prepare(
    `DELETE FROM label_key WHERE did = ? AND label_key NOT IN
     (SELECT label_key FROM label_key WHERE did = ? ORDER BY last_seen DESC, label_key LIMIT ${maxKeysPerLabeler})`,
  );
  return {
    putKeys: db.transaction((keys: readonly LabelerKey[]): void => {
      for (const { did, key, firstSeen, lastSeen } of keys) {
        bounded(key, maxRosterTextLength, 'key');
        put.run(did, key, firstSeen, lastSeen);
        trim.run(did, did);
      }
    }),
  };
}

/**
 * Creates the functions that change labelers' definitions. Each call is one durable commit. `maxBytes` limits the total
 * size of all definitions.
 */
export function definitionChanges(db: Sqlite, maxBytes: number) {
  const newest = db
    .prepare<[string], string>('SELECT content FROM definitions WHERE did = ? ORDER BY id DESC LIMIT 1')
    .pluck();
  const insert = db.prepare('INSERT INTO definitions(did, seen_at, content) VALUES (?, ?, ?)');
  const trim = db.prepare(
    `DELETE FROM definitions WHERE did = ? AND id NOT IN
     (SELECT id FROM definitions WHERE did = ? ORDER BY id DESC LIMIT ${maxDefinitionRevisions})`,
  );
  const space = new DefinitionSpace(definitionTable(db), maxBytes);
  const add = ({ did, seenAt, content }: Definitions): boolean => {
    bounded(content, maxDefinitionsLength, 'definitions');
    if (newest.get(did) === content) return false;
    insert.run(did, seenAt, content);
    trim.run(did, did);
    return true;
  };
  return {
    putDefinitions: db.transaction((revisions: readonly Definitions[], shares?: DefinitionShares): boolean[] => {
      const added = revisions.map(add);
      space.trim(
        revisions.filter((_, i) => added[i]).map(({ did }) => did),
        shares,
      );
      return added;
    }),
    /** Discards the sizes of definitions in memory. Must be called after a change of definitions was rolled back. */
    forgetSizes: (): void => space.forget(),
  };
}

function definitionTable(db: Sqlite): DefinitionTable {
  const sizes = db.prepare<[], { did: string; bytes: number; newest: number }>(
    `SELECT did, SUM(octet_length(content)) AS bytes,
     (SELECT octet_length(content) FROM definitions AS last WHERE last.did = definitions.did ORDER BY id DESC LIMIT 1) AS newest
     FROM definitions GROUP BY did`,
  );
  const sizesOf = db
    .prepare<[string], number>('SELECT octet_length(content) FROM definitions WHERE did = ? ORDER BY id DESC')
    .pluck();
  const dropOldest = db
    .prepare<[string], number>(
      `DELETE FROM definitions WHERE id = (SELECT MIN(id) FROM definitions WHERE did = ?)
       RETURNING octet_length(content)`,
    )
    .pluck();
  return { sizes: () => sizes.all(), sizesOf: (did) => sizesOf.all(did), dropOldest: (did) => dropOldest.get(did) };
}
