import type { LastFrame } from './reading-events.ts';

/** Maximum number of frames whose numbers are remembered. */
const maxSeen = 512;
/** Number of hexadecimal digits of a mark that are kept. They fit exactly into a number, and marks are digests. */
const markDigits = 13;
/** Numbers that a frame takes: its number and the beginning of its mark. */
const width = 2;
/** Number of frames for which there is room after the newest 512, so that these are moved once per so many frames. */
const room = 128;

/** Memory that is shared by a `SeenFrames` and those that follow it. */
interface Memory {
  readonly pairs: Float64Array;
  /** Number of the pairs' numbers that are in use. */
  used: number;
}

/**
 * The numbers of the newest consecutive frames of a stream that contain labels, each with the mark of the frame's last
 * label. A frame takes 16 bytes, because each of thousands of labelers may have all 512 frames. Immutable: frames that
 * follow are written behind these, into the same memory, where only their own `SeenFrames` sees them. A copy for each
 * frame would leave 8 KB of garbage outside the heap, which the allocator does not return to the system.
 */
export class SeenFrames {
  static readonly none = new SeenFrames({ pairs: new Float64Array(0), used: 0 }, 0, 0);
  readonly #memory: Memory;
  /** Range of the memory: the number and the mark of each frame in turn, oldest frame first. */
  readonly #start: number;
  readonly #end: number;

  private constructor(memory: Memory, start: number, end: number) {
    this.#memory = memory;
    this.#start = start;
    this.#end = end;
  }

  /** Returns these frames and the frames after them, without frames that have no label, and at most the newest 512. */
  followedBy(frames: readonly LastFrame[]): SeenFrames {
    const fresh = frames
      .flatMap(({ seq, tail }) => (tail === null ? [] : [seq, beginningOf(tail)]))
      .slice(-width * maxSeen);
    if (fresh.length === 0) return this;
    const end = this.#end + fresh.length;
    const start = Math.max(this.#start, end - width * maxSeen);
    const memory = this.#memory;
    // Other frames may have followed these already, if their labels could not be stored.
    const isFree = memory.used === this.#end && end <= memory.pairs.length;
    if (!isFree) return SeenFrames.#moved(memory.pairs.subarray(start, this.#end), fresh);
    memory.pairs.set(fresh, this.#end);
    memory.used = end;
    return new SeenFrames(memory, start, end);
  }

  /** Copies frames into memory of their own, with room for half as many more. */
  static #moved(kept: Float64Array, fresh: readonly number[]): SeenFrames {
    const used = kept.length + fresh.length;
    const frames = Math.min(Math.ceil((used / width) * 1.5), maxSeen + room);
    const pairs = new Float64Array(frames * width);
    pairs.set(kept);
    pairs.set(fresh, kept.length);
    return new SeenFrames({ pairs, used }, 0, used);
  }

  /** Returns true if the newest frame with this number ended with the label that has this mark. */
  endsWith(seq: number, mark: string): boolean {
    const { pairs } = this.#memory;
    for (let at = this.#end - width; at >= this.#start; at -= width) {
      if (pairs[at] === seq) return pairs[at + 1] === beginningOf(mark);
    }
    return false;
  }
}

function beginningOf(mark: string): number {
  return Number.parseInt(mark.slice(0, markDigits), 16);
}
