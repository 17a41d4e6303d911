import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { decodedCost } from '../../input/limits.ts';
import { decodeFrame, type LabelFrame, scanFrame } from '../label/frames.ts';

/** Frames that may wait for the writer before a connection is not read any further. */
const maxFrames = 256;
/** The same in bytes: a frame may be as large as a page. */
export const maxWaitingBytes = 16 * 1024 * 1024;
/** Memory of the frames that are decoded together, where one of them alone does not need more. */
const maxBatchCost = 2 * 1024 * 1024;

interface Waiting {
  /** Null where the frame was refused as it came, and is not kept. */
  readonly bytes: Uint8Array | null;
  readonly cost: number;
  readonly refused: 'malformed' | 'over_budget';
}

/** The next frames of a queue. */
export interface FrameBatch {
  readonly count: number;
  /** Upper estimate of the memory that they take once they are decoded. */
  readonly cost: number;
}

/**
 * The frames of one connection that wait for the writer, bounded by number and by bytes, and as a part of what the frames of all
 * connections may take. They wait as bytes: what a frame decodes to may be many times larger.
 */
export class FrameQueue {
  readonly #account: ByteAccount;
  #frames: Waiting[] = [];
  #bytes = 0;

  /** `account` holds the bytes that wait. */
  constructor(account: ByteAccount) {
    this.#account = account;
  }

  /** Adds a message; true when no more should be read for now. What was read already may still come. Never throws. */
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

  /** The oldest frames that together take no more memory than this, at least one; null when nothing waits. */
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

  /** Takes the oldest frames and decodes them. */
  take({ count }: Pick<FrameBatch, 'count'>): readonly LabelFrame[] {
    const taken = this.#frames.slice(0, count);
    this.#frames = this.#frames.slice(count);
    const bytes = taken.reduce((sum, frame) => sum + (frame.bytes?.byteLength ?? 0), 0);
    this.#bytes -= bytes;
    this.#account.release(bytes);
    return taken.map((frame) => (frame.bytes === null ? { kind: frame.refused } : decodeFrame(frame.bytes)));
  }

  /** Drops what waits. */
  clear(): void {
    this.#frames = [];
    this.#account.release(this.#bytes);
    this.#bytes = 0;
  }
}
