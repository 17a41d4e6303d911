import type { Range } from '../ranges.ts';
import type { Species } from './metrics.ts';
import { parseFrame } from './parsed.ts';
import type { Block, EventSource, Plan } from './source.ts';
import { framed } from './template.ts';

/** Options for replaying recorded frames. */
interface RecordedOptions {
  /** Frames as text, in file order. */
  readonly frames: readonly string[];
  /** `history`: all events occurred before `startUs`. `live`: the events occur one by one, beginning at `startUs`. */
  readonly as: 'history' | 'live';
  /** Number of events per second in live mode. */
  readonly rate: number;
  readonly startUs: number;
}

/** Recorded frames with their own times, numbered from 0 in file order. */
export class RecordedSource implements EventSource {
  readonly species: Species[] = [];
  readonly #block: Block;
  readonly #options: RecordedOptions;

  constructor(options: RecordedOptions) {
    this.#options = options;
    const bytes = options.frames.map((frame) => framed(Buffer.from(frame)));
    const count = bytes.length;
    const offsets = new Float64Array(count + 1);
    for (const [at, frame] of bytes.entries()) offsets[at + 1] = (offsets[at] ?? 0) + frame.length;
    const parsed = options.frames.map(parseFrame);
    this.#block = {
      first: 0,
      count,
      timeUs: Float64Array.from(parsed, ({ timeUs }) => timeUs ?? 0),
      species: Uint16Array.from(parsed, ({ species }) => this.#indexOf(species)),
      offsets,
      bytes: Buffer.concat(bytes),
    };
  }

  plan(): Plan {
    return this.#block;
  }

  block(): Block {
    return this.#block;
  }

  edge(nowUs: number): number {
    const { as, rate, startUs } = this.#options;
    if (as === 'history') return this.#block.count;
    return Math.max(0, Math.min(this.#block.count, Math.floor(((nowUs - startUs) / 1_000_000) * rate)));
  }

  /**
   * Returns the number of the first frame in the file that is stamped at or after `timeUs`, or the number of frames if
   * there is no such frame. A replay begins there. Recorded frames need not be sorted by time.
   */
  seek(timeUs: number): number {
    const found = this.#block.timeUs.findIndex((time) => time >= timeUs);
    return found < 0 ? this.#block.count : found;
  }

  span(): Range {
    return { from: 0, to: this.#block.count };
  }

  oldest(): number {
    return 0;
  }

  #indexOf(meaning: Species): number {
    const known = this.species.findIndex(
      (one) =>
        one.outcome === meaning.outcome &&
        one.collection === meaning.collection &&
        one.metrics.join() === meaning.metrics.join(),
    );
    return known < 0 ? this.species.push(meaning) - 1 : known;
  }
}
