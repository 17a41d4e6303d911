import { maxCountedValueBytes, maxCountedValues } from '../../labeler-counters.ts';
import type { Queries } from '../base/session.ts';
import { labelerKinds } from './labeler-kinds.ts';

/** Maximum number of cached values of all labelers together. */
const maxCached = 200_000;

/**
 * Values that a day counts by name, per labeler. A value keeps its entry until the day ends. Once the limit is
 * reached, no other value gets an entry on that day.
 */
export class NamedValues {
  readonly #day: number;
  readonly #bySource = new Map<number, Set<string>>();
  #size = 0;

  constructor(day: number) {
    this.#day = day;
  }

  /** Loads the named values of labelers that are not in the cache. */
  async load(queries: Queries, sources: ReadonlySet<number>): Promise<void> {
    if (this.#size > maxCached) this.clear();
    const missing = [...sources].filter((source) => !this.#bySource.has(source));
    if (missing.length === 0) return;
    for (const source of missing) this.#bySource.set(source, new Set());
    const rows = await queries.rows<{ source: number; key: string }>(
      'SELECT source, key FROM labeler_count WHERE day = $1 AND source = ANY ($2::int[]) AND kind = $3',
      [this.#day, missing, labelerKinds.value],
    );
    for (const { source, key } of rows) this.#bySource.get(source)?.add(key);
    this.#size += rows.length;
  }

  /** Returns true if the named values of the labelers of all rows are in the cache. */
  knows(rows: readonly { readonly source: number }[]): boolean {
    return rows.every(({ source }) => this.#bySource.has(source));
  }

  /**
   * Returns true if a value is counted by name. Adds a value of at most `maxCountedValueBytes` bytes while the
   * labeler has fewer than `maxCountedValues` named values.
   */
  isNamed(source: number, value: string): boolean {
    const values = this.#bySource.get(source);
    if (!values || values.has(value)) return values !== undefined;
    if (values.size >= maxCountedValues || Buffer.byteLength(value) > maxCountedValueBytes) return false;
    values.add(value);
    this.#size += 1;
    return true;
  }

  /** Discards the cache. Must be called after a failed commit. */
  clear(): void {
    this.#bySource.clear();
    this.#size = 0;
  }
}
