import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { decodedCost } from '../../input/limits.ts';
import { decodeFrame, type LabelFrame, scanFrame } from '../label/frames.ts';

/** Maximum number of frames that wait for the writer. At the maximum, reading of the connection pauses. */
const maxFrames = 256;
/** Size of the waiting frames, in bytes, at which reading of the connection pauses. */
export const maxWaitingBytes = 16 * 1024 * 1024;
/** Maximum memory of frames that are decoded together, in bytes. One frame alone may occupy more. */
const maxBatchCost = 2 * 1024 * 1024;

interface Waiting {
  /** Bytes of the frame, or null if the frame was refused on arrival and is not kept. */
  readonly bytes: Uint8Array | null;
  readonly cost: number;
  readonly refused: 'malformed' | 'over_budget';
}

/** The next frames of a queue. */
export interface FrameBatch {
  readonly count: number;
  /** Upper estimate of the memory that the decoded frames occupy, in bytes. */
  readonly cost: number;
}

/**
 * Frames of one connection that wait for the writer, bounded by number and bytes, and by the memory for the frames of
 * all connections. The frames wait undecoded, because a decoded frame may be many times larger.
 */
export class FrameQueue {
  readonly #account: ByteAccount;
  #frames: Waiting[] = [];
  #bytes = 0;

  /** Creates an empty queue; `account` is charged for the waiting bytes. */
  constructor(account: ByteAccount) {
    this.#account = account;
  }

  /**
   * Adds a message. Returns true if reading should pause; messages that were already received may follow. Never throws.
   */
  push(bytes: Uint8Array): boolean {
    const { fault, elements } = scanFrame(bytes);
    if (fault === null) {
      this.#frames.push({ bytes, cost: decodedCost(bytes.byteLength, elements), refused: 'malformed' });
      this.#bytes += bytes.byteLength;
      this.#account.hold(bytes.byteLength);
    } else this.#frames.push({ bytes: null, cost: 0, refused: fault === 'malformed' ? fault : 'over_budget' });
    return this.isFull;
  }

  /** True if reading should pause. */
  get isFull(): boolean {
    return this.#frames.length >= maxFrames || this.#bytes >= maxWaitingBytes || this.#account.isOver;
  }

  /**
   * Returns the oldest frames that together occupy at most `maxCost` bytes of memory, but at least one frame, or null
   * if no frame waits.
   */
  next(maxCost = maxBatchCost): FrameBatch | null {
    let cost = 0;
    let count = 0;
    for (const frame of this.#frames) {
      if (count > 0 && (count >= maxFrames || cost + frame.cost > maxCost)) break;
      cost += frame.cost;
      count += 1;
    }
    return count === 0 ? null : { count, cost };
  }

  /** Removes the oldest frames from the queue, decodes them and returns them. */
  take({ count }: Pick<FrameBatch, 'count'>): readonly LabelFrame[] {
    const taken = this.#frames.slice(0, count);
    this.#frames = this.#frames.slice(count);
    const bytes = taken.reduce((sum, frame) => sum + (frame.bytes?.byteLength ?? 0), 0);
    this.#bytes -= bytes;
    this.#account.release(bytes);
    return taken.map((frame) => (frame.bytes === null ? { kind: frame.refused } : decodeFrame(frame.bytes)));
  }

  /** Removes all waiting frames. */
  clear(): void {
    this.#frames = [];
    this.#account.release(this.#bytes);
    this.#bytes = 0;
  }
}
