/** Maximum total size in bytes of what is kept. */
const maxKeptBytes = 4 * 1024 * 1024;

/** Caches what was rendered from one pair of artifacts in one age bucket, up to a total size. */
export class Kept<V> {
  #source: unknown = null;
  #bucket = Number.NaN;
  #madeAt = 0;
  #bytes = 0;
  readonly #values = new Map<string, V>();

  /**
   * Returns the cached value of a key. Returns null if no value is cached, or if the value is of other artifacts, of
   * another bucket, or of a later time after the clock was set back.
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

  /** Keeps a value of the artifacts and bucket of the last `get`. `bytes` is the size that counts against the maximum. */
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
