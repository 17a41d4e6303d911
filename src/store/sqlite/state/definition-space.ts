import type { DefinitionShares } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';

/** Space used by one labeler's definitions. */
interface Kept {
  /** Bytes of all revisions, and of the newest one. */
  readonly bytes: number;
  readonly newest: number;
}

/** Every labeler has its own share, and none is protected. */
const equalShares: DefinitionShares = { isProtected: () => false, groupOf: (did) => did };

/**
 * Enforces the total limit of definitions. Sizes are kept in memory: summing the table on each change would read all of
 * it, as often as labelers write their records.
 */
export function definitionSpace(db: Sqlite, maxBytes: number) {
  const sizes = db.prepare<[], { did: string; bytes: number; newest: number }>(
    `SELECT did, SUM(octet_length(content)) AS bytes,
       (SELECT octet_length(content) FROM definitions AS last WHERE last.did = definitions.did ORDER BY id DESC LIMIT 1) AS newest
     FROM definitions GROUP BY did`,
  );
  const sizesOf = db.prepare<[string], number>(
    'SELECT octet_length(content) FROM definitions WHERE did = ? ORDER BY id DESC',
  );
  const dropOldest = db.prepare<[string], number>(
    `DELETE FROM definitions WHERE id = (SELECT MIN(id) FROM definitions WHERE did = ?)
     RETURNING octet_length(content)`,
  );
  const kept = new Map<string, Kept>();
  let total = -1;

  function keep(did: string, entry: Kept): void {
    total += entry.bytes - (kept.get(did)?.bytes ?? 0);
    if (entry.bytes === 0) kept.delete(did);
    else kept.set(did, entry);
  }

  function load(): void {
    if (total >= 0) return;
    total = 0;
    for (const { did, bytes, newest } of sizes.all()) keep(did, { bytes, newest });
  }

  function drop(did: string): void {
    const entry = kept.get(did) ?? { bytes: 0, newest: 0 };
    const bytes = entry.bytes - (dropOldest.pluck().get(did) ?? entry.bytes);
    keep(did, { bytes, newest: Math.min(bytes, entry.newest) });
  }

  /** Removes revisions of the largest share of the largest group until the total fits or no candidate remains. */
  function giveWay(shareOf: (did: string, kept: Kept) => number, groupOf: DefinitionShares['groupOf']): void {
    if (total <= maxBytes) return;
    const groups = new Map<string, { bytes: number; readonly dids: string[] }>();
    for (const [did, entry] of kept) {
      const share = shareOf(did, entry);
      if (share === 0) continue;
      const name = groupOf(did);
      const group = groups.get(name) ?? { bytes: 0, dids: [] };
      groups.set(name, group);
      group.bytes += share;
      group.dids.push(did);
    }
    const share = (did: string): number => {
      const entry = kept.get(did);
      return entry ? shareOf(did, entry) : 0;
    };
    while (total > maxBytes) {
      let largest: { bytes: number; readonly dids: string[] } | null = null;
      for (const group of groups.values()) if (group.bytes > (largest?.bytes ?? 0)) largest = group;
      if (largest === null) return;
      const did = largest.dids.reduce((one, other) => (share(other) > share(one) ? other : one));
      const before = share(did);
      drop(did);
      largest.bytes -= before - share(did);
    }
  }

  return {
    /** Call after adding a revision of a labeler: removes revisions beyond the limit in the same transaction. */
    trim(did: string, { isProtected, groupOf }: DefinitionShares = equalShares): void {
      load();
      const own = sizesOf.pluck().all(did);
      keep(did, { bytes: own.reduce((sum, bytes) => sum + bytes, 0), newest: own[0] ?? 0 });
      giveWay((_, { bytes, newest }) => bytes - newest, groupOf);
      giveWay((one, { bytes }) => (isProtected(one) ? 0 : bytes), groupOf);
      giveWay((_, { bytes }) => bytes, groupOf);
    },

    /** Call after a rollback: sizes are read again. */
    forget(): void {
      kept.clear();
      total = -1;
    },
  };
}
