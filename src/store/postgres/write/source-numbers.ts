import { StoreError } from '../../errors.ts';
import type { Queries } from '../base/session.ts';

/** Maximum number of cached sources. */
const maxCached = 50_000;

/** Numeric ids of sources, which rows and counters store instead of the DID. */
export class SourceNumbers {
  readonly #numbers = new Map<string, number>();

  /** Loads the ids of sources that are not cached, and assigns ids to new sources. */
  async load(queries: Queries, dids: ReadonlySet<string>): Promise<void> {
    if (this.#numbers.size > maxCached) this.clear();
    const missing = [...dids].filter((did) => !this.#numbers.has(did));
    if (missing.length === 0) return;
    await queries.run('INSERT INTO source(did) SELECT * FROM unnest($1::text[]) ON CONFLICT (did) DO NOTHING', [
      missing,
    ]);
    const sql = 'SELECT id, did FROM source WHERE did = ANY ($1::text[])';
    for (const { id, did } of await queries.rows<{ id: number; did: string }>(sql, [missing]))
      this.#numbers.set(did, id);
  }

  /** Returns true if the ids of all sources are in memory. */
  knows(dids: ReadonlySet<string>): boolean {
    return [...dids].every((did) => this.#numbers.has(did));
  }

  /** Returns the numeric id of a source that was loaded. */
  of(did: string): number {
    const number = this.#numbers.get(did);
    if (number === undefined) throw new StoreError('unexpected', 'a source has no numeric id');
    return number;
  }

  /**
   * Discards the cache. Must be called after a failed commit, because the database lacks the ids that the commit
   * assigned.
   */
  clear(): void {
    this.#numbers.clear();
  }
}
