/** Maximum total size of the cached values, in bytes. */
const maxKeptBytes = 4 * 1024 * 1024;

/** Cache of values that were rendered from one pair of artifacts in one age bucket. Its total size is limited. */
export class Kept<V> {
  #source: unknown = null;
  #bucket = Number.NaN;
  #madeAt = 0;
  #bytes = 0;
  readonly #values = new Map<string, V>();

  /**
   * Returns the cached value for a key; null if there is none. Empties the cache first if it belongs to other artifacts
   * or another bucket, or if the clock was set back to a time before it was filled.
   */
  get(source: unknown, bucket: number, now: number, key: string): V | null {
    if (this.#source !== source || this.#bucket !== bucket || now < this.#madeAt) {
      this.#clear();
      this.#source = source;
      this.#bucket = bucket;
      this.#madeAt = now;
    }
    return this.#values.get(key) ?? null;
  }

  /**
   * Caches a value for the artifacts and the bucket of the last `get`, and returns it. `bytes` counts towards the
   * maximum size; empties the cache first if the value would exceed it.
   */
  set(key: string, value: V, bytes: number): V {
    if (this.#bytes + bytes > maxKeptBytes) this.#clear();
    this.#bytes += bytes;
    this.#values.set(key, value);
    return value;
  }

  #clear(): void {
    this.#bytes = 0;
    this.#values.clear();
  }
}
