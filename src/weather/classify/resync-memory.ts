/** Maximum number of remembered pairs of account and time. The oldest pairs are dropped first. */
const maxPairs = 32_768;

/**
 * Detects rows that repeat a repository after a `sync`. The rows are not marked as such, but they have the account and
 * the time of the `sync`. Only a salted hash of each pair is kept, in memory: it reveals no account and is never
 * stored.
 */
export class ResyncMemory {
  readonly #pairs = new Set<number>();
  readonly #salt: number;

  /** Creates a detector that remembers no pairs yet. `salt` is 32 random bits. */
  constructor(salt: number) {
    this.#salt = salt;
  }

  /** Records a `sync` of the account whose DID is in `[from, to)`. */
  sync(bytes: Uint8Array, from: number, to: number, timeUs: number): void {
    this.#add(this.#pair(bytes, from, to, timeUs));
  }

  /**
   * Returns true if a create is a row of a re-sync. A create is a row if its `sync` was read. An `old` create, whose
   * time precedes the first event of this reader, is also a row, because its `sync` may have been missed. Hosts
   * without `witnessedAt` also send imported creates with old times: on these hosts, the first old create with a
   * given account and time counts as an event, and all further ones count as rows.
   */
  isRow(bytes: Uint8Array, from: number, to: number, timeUs: number, old: boolean, witnessed: boolean): boolean {
    if (this.#pairs.size === 0 && !old) return false;
    const pair = this.#pair(bytes, from, to, timeUs);
    if (this.#pairs.has(pair)) return true;
    if (!old) return false;
    this.#add(pair);
    return witnessed;
  }

  #add(pair: number): void {
    this.#pairs.add(pair);
    if (this.#pairs.size <= maxPairs) return;
    for (const oldest of this.#pairs) {
      this.#pairs.delete(oldest);
      return;
    }
  }

  /** Computes 53 bits from two FNV-1a hashes. A collision among the remembered pairs is improbable. */
  #pair(bytes: Uint8Array, from: number, to: number, timeUs: number): number {
    let high = 0x811c9dc5 ^ this.#salt;
    let low = 0x9e3779b9 ^ this.#salt;
    for (let i = from; i < to; i += 1) {
      const byte = bytes[i] ?? 0;
      high = Math.imul(high ^ byte, 0x01000193);
      low = Math.imul(low ^ byte, 0x85ebca6b);
      low ^= low >>> 13;
    }
    for (const part of [timeUs % 0x1_0000_0000, Math.floor(timeUs / 0x1_0000_0000)]) {
      high = Math.imul(high ^ (part >>> 0), 0x01000193);
      high ^= high >>> 15;
      low = Math.imul(low ^ (part >>> 0), 0x85ebca6b);
      low ^= low >>> 13;
    }
    return (high >>> 0) * 0x20_0000 + (low >>> 11);
  }
}
