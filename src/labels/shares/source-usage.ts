/** Resources that one source has used since the process started. */
interface Usage {
  /** Number of bytes that were received and charged to the source. */
  readonly bytesIn: number;
  /** Number of bytes stored. */
  readonly bytesStored: number;
  /** Number of new rows. */
  readonly rows: number;
  /** Processor time of this thread for parsing, judging, verifying and writing, in milliseconds. */
  readonly cpuMs: number;
  /** Number of committed pages, with or without rows. */
  readonly writes: number;
  /** Time for which the source was not read because it had exceeded a rate, in milliseconds. */
  readonly throttledMs: number;
}

/** Usage of one source, with its DID. */
interface UsageRecord extends Usage {
  readonly source: string;
}

const nothing: Usage = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };

/**
 * Counts the cost of each source. Above `maxSources` sources, drops the half of the sources that used the least
 * processor time, so that many new labelers cannot fill the memory and expensive labelers stay visible.
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

  /** Returns the usage of one source. */
  of(source: string): Usage {
    return this.#sources.get(source) ?? nothing;
  }

  /** Returns the sources with their usage, by processor time in descending order. */
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
