import type { Micros } from '../../contract/timestamp.ts';
import { maxPositionLength, type NewObservation, type PositionChange } from '../../store/port.ts';
import { minute } from '../../store/time.ts';
import type { RepeatFinder } from './repeat-finder.ts';
import { addRepeats, keptMinutes, readRepeats, repeatsName, writeRepeats } from './repeat-log.ts';

/** Maximum number of sources whose repeats are remembered. The stored repeats of a source have at most 4 KB. */
const maxSources = 2_000;

/** Repeats of one source. */
interface Remembered {
  /** The repeats in their stored form, because parsed repeats need twelve times as much memory. */
  readonly text: string;
  /** Minute of the newest repeats. */
  readonly newest: number;
}

/** Repeats of one page, with the changes to commit with its rows. */
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
  readonly #finder: Pick<RepeatFinder, 'count'>;
  readonly #clock: () => Micros;
  readonly #isPrivileged: (source: string) => boolean;
  readonly #sources = new Map<string, Remembered>();

  /** `isPrivileged` returns true for a source that is forgotten after all others. */
  constructor(finder: Pick<RepeatFinder, 'count'>, clock: () => Micros, isPrivileged: (source: string) => boolean) {
    this.#finder = finder;
    this.#clock = clock;
    this.#isPrivileged = isPrivileged;
  }

  /** Number of remembered sources. */
  get size(): number {
    return this.#sources.size;
  }

  /** Loads the stored repeats of a source. Returns false, without loading, if the name does not denote repeats. */
  load(source: string, name: string, text: string): boolean {
    if (name !== repeatsName) return false;
    this.#keep(source, text);
    return true;
  }

  /**
   * Counts the repeats among the rows of the next commit. Each source may have one pending page at a time.
   */
  async find(source: string, observations: readonly NewObservation[]): Promise<PageRepeats> {
    const count = await this.#finder.count(source, observations);
    if (count === 0) return { changes: [], committed: () => undefined };
    const before = readRepeats(this.#sources.get(source)?.text ?? '');
    const repeats = addRepeats(before, { minute: this.#minute(), count });
    const value = writeRepeats(repeats, maxPositionLength - source.length - repeatsName.length);
    return {
      changes: [{ source, endpoint: repeatsName, value }],
      committed: () => this.#keep(source, value),
    };
  }

  /**
   * Remembers the repeats of a source. Forgets expired repeats and, above the maximum number of sources, one source.
   */
  #keep(source: string, text: string): void {
    this.#sources.set(source, { text, newest: readRepeats(text).at(-1)?.minute ?? 0 });
    const expired = this.#minute() - keptMinutes;
    for (const [one, { newest }] of this.#sources) if (newest <= expired) this.#sources.delete(one);
    if (this.#sources.size > maxSources) this.#sources.delete(this.#dispensable() ?? source);
  }

  /**
   * Returns the source whose newest repeat is the oldest. Returns a privileged source only if all sources are
   * privileged, because one party can operate thousands of new sources.
   */
  #dispensable(): string | null {
    let found: { readonly source: string; readonly isPrivileged: boolean; readonly newest: number } | null = null;
    for (const [source, { newest }] of this.#sources) {
      const isPrivileged = this.#isPrivileged(source);
      const isFirst =
        found === null || (isPrivileged === found.isPrivileged ? newest < found.newest : found.isPrivileged);
      if (isFirst) found = { source, isPrivileged, newest };
    }
    return found?.source ?? null;
  }

  #minute(): number {
    return Math.floor(this.#clock() / minute);
  }
}
