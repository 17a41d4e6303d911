import type { Micros } from '../../contract/timestamp.ts';
import { maxPositionLength, type NewObservation, type PositionChange } from '../../store/port.ts';
import { minute } from '../../store/time.ts';
import type { RepeatFinder } from './repeat-finder.ts';
import { addRepeats, type Repeats, readRepeats, repeatsName, writeRepeats } from './repeat-log.ts';

/**
 * Maximum sources whose repeats are counted, each with at most 4 KB. Repeats of further sources count as new events.
 */
const maxSources = 2_000;

/** Repeats of one page, to be committed with its rows. */
export interface PageRepeats {
  readonly changes: readonly PositionChange[];
  /** Adds the repeats to the memory. Must be called once the page is durable. */
  committed(): void;
}

/**
 * Counts repeats by source and minute. The counts are stored with the positions and committed with the rows, so that a
 * row that is read again after a restart is not counted twice.
 */
export class RepeatMemory {
  readonly #finder: RepeatFinder;
  readonly #clock: () => Micros;
  readonly #sources = new Map<string, readonly Repeats[]>();

  constructor(finder: RepeatFinder, clock: () => Micros) {
    this.#finder = finder;
    this.#clock = clock;
  }

  /** Loads stored repeats; returns false if the name is not that of repeats. */
  load(source: string, name: string, text: string): boolean {
    if (name !== repeatsName) return false;
    if (this.#sources.size < maxSources) this.#sources.set(source, readRepeats(text));
    return true;
  }

  /**
   * Counts the repeats among the rows of the next commit. Each source may have one such page at a time. Never rejects.
   */
  async find(source: string, observations: readonly NewObservation[]): Promise<PageRepeats> {
    const count = await this.#finder.count(source, observations);
    const before = this.#sources.get(source);
    if (count === 0 || (before === undefined && this.#sources.size >= maxSources)) {
      return { changes: [], committed: () => undefined };
    }
    const repeats = addRepeats(before ?? [], { minute: Math.floor(this.#clock() / minute), count });
    const value = writeRepeats(repeats, maxPositionLength - source.length - repeatsName.length);
    return {
      changes: [{ source, endpoint: repeatsName, value }],
      committed: () => void this.#sources.set(source, readRepeats(value)),
    };
  }
}
