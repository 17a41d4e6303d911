import type { LastFrame } from './reading-events.ts';

/** Maximum number of frames whose numbers are remembered. */
const maxSeen = 512;
/** Number of hexadecimal digits of a mark that are kept. They fit exactly into a number, and marks are digests. */
const markDigits = 13;

/**
 * The numbers of the newest consecutive frames of a stream that contain labels, each with the mark of the frame's last
 * label. A frame takes 16 bytes, because each of thousands of labelers may have all 512 frames. Immutable.
 */
export class SeenFrames {
  static readonly none = new SeenFrames(new Float64Array(0));
  /** The number and the mark of each frame in turn, oldest frame first. */
  readonly #pairs: Float64Array;

  private constructor(pairs: Float64Array) {
    this.#pairs = pairs;
  }

  /** Returns these frames and the frames after them, without frames that have no label, and at most the newest 512. */
  followedBy(frames: readonly LastFrame[]): SeenFrames {
    const fresh = frames
      .flatMap(({ seq, tail }) => (tail === null ? [] : [seq, beginningOf(tail)]))
      .slice(-2 * maxSeen);
    if (fresh.length === 0) return this;
    const kept = this.#pairs.subarray(Math.max(0, this.#pairs.length + fresh.length - 2 * maxSeen));
    const pairs = new Float64Array(kept.length + fresh.length);
    pairs.set(kept);
    pairs.set(fresh, kept.length);
    return new SeenFrames(pairs);
  }

  /** Returns true if the newest frame with this number ended with the label that has this mark. */
  endsWith(seq: number, mark: string): boolean {
    for (let at = this.#pairs.length - 2; at >= 0; at -= 2) {
      if (this.#pairs[at] === seq) return this.#pairs[at + 1] === beginningOf(mark);
    }
    return false;
  }
}

function beginningOf(mark: string): number {
  return Number.parseInt(mark.slice(0, markDigits), 16);
}
