import type { Micros } from '../../contract/timestamp.ts';
import { maxPositionLength, type NewObservation, type PositionChange } from '../../store/port.ts';
import { minute } from '../../store/time.ts';
import type { RepeatFinder } from './repeat-finder.ts';
import { addRepeats, type Repeats, readRepeats, repeatsName, writeRepeats } from './repeat-log.ts';

/** Sources whose repeats are counted: at most 4 KB each. Repeats of further ones count as acts. */
const maxSources = 2_000;

/** Repeats of one page: what to commit with its rows. */
export interface PageRepeats {
  readonly changes: readonly PositionChange[];
  /** The page is durable. */
  committed(): void;
}

/**
 * Counts repeats by source and minute. Stored with the positions and committed with the rows, so that a crash between the
 * two is impossible and a row that is read again after a restart is not counted twice.
 */
export class RepeatMemory {
  readonly #finder: RepeatFinder;
  readonly #clock: () => Micros;
  readonly #sources = new Map<string, readonly Repeats[]>();

  constructor(finder: RepeatFinder, clock: () => Micros) {
    this.#finder = finder;
    this.#clock = clock;
  }

  /** Takes over what was stored; returns false if it is something else. */
  load(source: string, name: string, text: string): boolean {
    if (name !== repeatsName) return false;
    if (this.#sources.size < maxSources) this.#sources.set(source, readRepeats(text));
    return true;
  }

  /** Counts the repeats among rows that are committed next. One page of a source at a time. Never rejects. */
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
