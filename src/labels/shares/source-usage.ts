/** Resources that one source has used since the process started. */
export interface Usage {
  /** Bytes received, as far as they are known, and bytes written. */
  readonly bytesIn: number;
  readonly bytesStored: number;
  /** Rows that were new. */
  readonly rows: number;
  /** Processor time of this thread for parsing, judging, verifying and writing, in milliseconds. */
  readonly cpuMs: number;
  /** Pages that were committed for it, with rows or without. */
  readonly writes: number;
  /** Time for which it was not read because it had used up its share, in milliseconds. */
  readonly throttledMs: number;
}

/** The usage of one source, with its DID. */
export interface UsageRecord extends Usage {
  readonly source: string;
}

const nothing: Usage = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };

/**
 * Counts what each source costs. Bounded: beyond `maxSources` the half that used the least processor time is forgotten, so
 * that a crowd of new labelers cannot fill the memory, and the expensive ones remain visible.
 */
export class SourceUsage {
  readonly #maxSources: number;
  readonly #sources = new Map<string, Usage>();

  constructor(maxSources = 20_000) {
    this.#maxSources = maxSources;
  }

  /** Adds to the usage of a source. */
  add(source: string, cost: Partial<Usage>): void {
    const known = this.#sources.get(source);
    if (known === undefined && this.#sources.size >= this.#maxSources) this.#forgetCheapest();
    const before = known ?? nothing;
    this.#sources.set(source, {
      bytesIn: before.bytesIn + (cost.bytesIn ?? 0),
      bytesStored: before.bytesStored + (cost.bytesStored ?? 0),
      rows: before.rows + (cost.rows ?? 0),
      cpuMs: before.cpuMs + (cost.cpuMs ?? 0),
      writes: before.writes + (cost.writes ?? 0),
      throttledMs: before.throttledMs + (cost.throttledMs ?? 0),
    });
  }

  /** The usage of one source. */
  of(source: string): Usage {
    return this.#sources.get(source) ?? nothing;
  }

  /** The usage of the sources that used the most processor time, in descending order. */
  list(limit = this.#maxSources): readonly UsageRecord[] {
    return [...this.#sources]
      .map(([source, usage]) => ({ source, ...usage }))
      .sort((a, b) => b.cpuMs - a.cpuMs || (a.source < b.source ? -1 : 1))
      .slice(0, limit);
  }

  #forgetCheapest(): void {
    for (const { source } of this.list().slice(Math.floor(this.#maxSources / 2))) this.#sources.delete(source);
  }
}
