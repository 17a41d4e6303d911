import { decodeFirst } from '@atcute/cbor';
import type { Micros } from '../../contract/timestamp.ts';
import { type CborShape, scanCbor } from '../../input/cbor-budget.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { isObject } from '../../input/json-budget.ts';
import { decodedCost, inputLimits } from '../../input/limits.ts';
import { micros, second } from '../../store/time.ts';

/** Maximum number of frames that wait for the writer. At the maximum, reading of the connection pauses. */
const maxFrames = 256;
/** Size of the waiting frames, in bytes, at which reading of the connection pauses. */
export const maxWaitingBytes = 16 * 1024 * 1024;
/** Maximum memory of frames that are decoded together, in bytes. A single frame may occupy more. */
const maxBatchCost = 2 * 1024 * 1024;

/** Time within which a labeler sends what waited there during a pause, in microseconds. */
const backlogTime = 90 * second;

/**
 * Memory of an entry of the queue in addition to the bytes of its frame, in bytes. A frame may have only a few bytes.
 */
const entryBytes = 256;

/**
 * Entry of the queue: one frame, or consecutive frames that were refused on arrival and are not kept. `at` is the time of
 * the arrival.
 */
type Waiting = { readonly at: Micros } & (
  | { readonly kind: 'frame'; readonly bytes: Uint8Array; readonly cost: number }
  | { readonly kind: 'refused'; readonly as: 'malformed' | 'over_budget'; frames: number }
);

/** Description of the next frames of a queue. */
export interface FrameBatch {
  /** Number of entries of the queue. */
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
  readonly #clock: () => Micros;
  #entries: Waiting[] = [];
  /** Memory of all entries, in bytes. */
  #bytes = 0;
  #takenAt: Micros;
  #takenSince: Micros;
  /** Time of the first pause after which the queue has not been empty twice; null if there is none. */
  #pausedSince: Micros | null = null;
  /** Time at which the queue was empty since then: messages that waited at the labeler follow. Null if it was not. */
  #emptiedAt: Micros | null = null;

  /** Creates an empty queue; `account` is charged for the memory of its entries. */
  constructor(account: ByteAccount, clock: () => Micros) {
    this.#account = account;
    this.#clock = clock;
    this.#takenAt = clock();
    this.#takenSince = this.#takenAt;
  }

  /** Time up to which everything that arrived has been taken. */
  get takenThrough(): Micros {
    return this.waitingSince ?? this.#takenAt;
  }

  /**
   * Time since which messages may wait, or null if none waits. Messages that the labeler could not send during a pause of
   * the connection may be as old as the pause.
   */
  get waitingSince(): Micros | null {
    const [oldest = null, paused] = [this.#entries[0]?.at, this.#pausedSince];
    return oldest === null || paused === null ? (oldest ?? paused) : micros(Math.min(oldest, paused));
  }

  /** Time since which the messages that were taken last may have waited. */
  get takenSince(): Micros {
    return this.#takenSince;
  }

  /** Must be called when reading of the connection pauses. */
  pause(): void {
    this.#pausedSince ??= this.#clock();
    this.#emptiedAt = null;
  }

  /**
   * Adds a message. If the message is malformed or exceeds the limits, keeps only its kind. Returns true if reading
   * should pause; messages that were already received may follow. Never throws.
   */
  push(bytes: Uint8Array): boolean {
    const { fault, elements } = scanFrame(bytes);
    const at = this.#clock();
    if (fault === null)
      this.#add({ at, kind: 'frame', bytes: ownBytes(bytes), cost: decodedCost(bytes.byteLength, elements) });
    else this.#refuse(fault === 'malformed' ? fault : 'over_budget', at);
    return this.isFull;
  }

  #add(entry: Waiting): void {
    this.#entries.push(entry);
    this.#bytes += memoryOf(entry);
    this.#account.hold(memoryOf(entry));
  }

  /**
   * Counts a refused frame. Consecutive refused frames share an entry, because one read may contain tens of thousands
   * of empty frames.
   */
  #refuse(as: 'malformed' | 'over_budget', at: Micros): void {
    const last = this.#entries.at(-1);
    if (last?.kind === 'refused' && last.as === as) last.frames += 1;
    else this.#add({ at, kind: 'refused', as, frames: 1 });
  }

  /** True if reading should pause. */
  get isFull(): boolean {
    return this.#entries.length >= maxFrames || this.#bytes >= maxWaitingBytes || this.#account.isOver;
  }

  /**
   * Describes the oldest entries whose decoded frames together occupy at most `maxCost` bytes of memory: at least one
   * entry, and at most 256. Returns null if no frame waits.
   */
  next(maxCost = maxBatchCost): FrameBatch | null {
    let cost = 0;
    let count = 0;
    for (const entry of this.#entries) {
      const own = entry.kind === 'frame' ? entry.cost : 0;
      if (count > 0 && (count >= maxFrames || cost + own > maxCost)) break;
      cost += own;
      count += 1;
    }
    return count === 0 ? null : { count, cost };
  }

  /** Removes the oldest entries from the queue, decodes their frames and returns them. */
  take({ count }: Pick<FrameBatch, 'count'>): readonly LabelFrame[] {
    const taken = this.#entries.slice(0, count);
    this.#takenSince = this.#isAfterPause ? (taken[0]?.at ?? this.#clock()) : (this.waitingSince ?? this.#clock());
    this.#entries = this.#entries.slice(count);
    this.#takenAt = this.#clock();
    if (this.#entries.length === 0) this.#emptied();
    const bytes = taken.reduce((sum, entry) => sum + memoryOf(entry), 0);
    this.#bytes -= bytes;
    this.#account.release(bytes);
    const frames: LabelFrame[] = [];
    for (const entry of taken) {
      if (entry.kind === 'frame') frames.push(decodeFrame(entry.bytes));
      else for (let left = entry.frames; left > 0; left -= 1) frames.push({ kind: entry.as });
    }
    return frames;
  }

  /** True if the oldest message arrived so long after a pause that the labeler had sent what waited there before. */
  get #isAfterPause(): boolean {
    const oldest = this.#entries[0]?.at;
    return this.#emptiedAt !== null && oldest !== undefined && oldest - this.#emptiedAt > backlogTime;
  }

  #emptied(): void {
    if (this.#emptiedAt !== null) this.#pausedSince = null;
    this.#emptiedAt = this.#pausedSince === null ? null : this.#clock();
  }

  /** Removes all waiting frames. */
  clear(): void {
    this.#entries = [];
    this.#account.release(this.#bytes);
    this.#bytes = 0;
  }
}

function memoryOf(entry: Waiting): number {
  return entryBytes + (entry.kind === 'frame' ? entry.bytes.byteLength : 0);
}

/**
 * Returns the bytes of a frame, copied if they share memory with many other bytes. A frame is a view of the bytes
 * that were read together, of up to 64 KiB: a labeler could send a small frame in each read and fill the rest with
 * control frames, so that the waiting frames would keep all these bytes in memory.
 */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2 * bytes.byteLength ? new Uint8Array(bytes) : bytes;
}

/** Maximum number of labels in one frame. A frame with more labels is refused. */
const maxFrameLabels = 10_000;

/** A message of `com.atproto.label.subscribeLabels`. */
export type LabelFrame =
  | { readonly kind: 'labels'; readonly seq: number; readonly labels: readonly unknown[] }
  /** The labeler no longer has all labels after the cursor. */
  | { readonly kind: 'outdated_cursor' }
  /** The cursor is beyond the labeler's newest label: the labeler's database was reset. */
  | { readonly kind: 'future_cursor' }
  | { readonly kind: 'consumer_too_slow' }
  /** An error message with another name. */
  | { readonly kind: 'error' }
  /** Information of an unknown name, which carries no label. */
  | { readonly kind: 'info' }
  /** A message of an unknown type, such as one of a later version of the protocol. */
  | { readonly kind: 'unknown' }
  /** Bytes that are not exactly one valid message, or a message with too many labels. */
  | { readonly kind: 'malformed' }
  /** A message that exceeds the limits on its depth, elements or fields. */
  | { readonly kind: 'over_budget' };

/** Number of elements that a frame of any length may have. */
const minElements = 1_024;

/** Minimum number of bytes for each further element of a frame; real labels have about twelve bytes per element. */
const bytesPerElement = 8;

/** Checks the depth and the number of elements of a frame, header and body, without decoding it. Never throws. */
function scanFrame(bytes: Uint8Array): CborShape {
  const { elements, depth, fields } = inputLimits.labelFrame;
  const proportional = minElements + bytes.length / bytesPerElement;
  return scanCbor(bytes, { elements: Math.min(elements, proportional), depth, fields }, 2);
}

/**
 * Decodes a frame, which consists of two CBOR objects, header and body, if it is within the limits and `admit` returns
 * true for the memory that it would occupy, in bytes. Never throws. The values share the frame's memory.
 */
export function readFrame(
  bytes: Uint8Array,
  admit: (cost: number) => boolean = () => true,
): LabelFrame | { readonly kind: 'no_memory' } {
  const { fault, elements } = scanFrame(bytes);
  if (fault !== null) return { kind: fault === 'malformed' ? fault : 'over_budget' };
  return admit(decodedCost(bytes.byteLength, elements)) ? decodeFrame(bytes) : { kind: 'no_memory' };
}

/** Decodes a frame that `scanFrame` found to be within its limits. Never throws. */
function decodeFrame(bytes: Uint8Array): LabelFrame {
  try {
    const [header, rest] = decodeFirst(bytes) as [unknown, Uint8Array];
    const [body, after] = decodeFirst(rest) as [unknown, Uint8Array];
    // Bytes after the body may be a further message, whose labels would be lost without a hole.
    if (!isObject(header) || !isObject(body) || after.length > 0) return { kind: 'malformed' };
    if (header.op === -1) return errorFrame(body.error);
    if (header.op !== 1) return { kind: 'malformed' };
    const type = typeOf(header.t);
    if (type === '#info') return body.name === 'OutdatedCursor' ? { kind: 'outdated_cursor' } : { kind: 'info' };
    if (type !== '#labels') return { kind: 'unknown' };
    const { seq } = body;
    const labels = body.labels === null ? [] : body.labels;
    if (!Array.isArray(labels) || labels.length > maxFrameLabels) return { kind: 'malformed' };
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return { kind: 'malformed' };
    return { kind: 'labels', seq, labels };
  } catch {
    return { kind: 'malformed' };
  }
}

/** Returns the number of items of a message: its labels, or 1 if the labels are unknown. */
export function itemsOf(frame: LabelFrame): number {
  if (frame.kind === 'labels') return frame.labels.length;
  return frame.kind === 'malformed' || frame.kind === 'over_budget' || frame.kind === 'unknown' ? 1 : 0;
}

/** Namespace of the types of messages, which a header may give in full. */
const subscription = 'com.atproto.label.subscribeLabels';

/** Returns the type in a header, relative to the namespace. */
function typeOf(type: unknown): unknown {
  return typeof type === 'string' && type.startsWith(`${subscription}#`) ? type.slice(subscription.length) : type;
}

function errorFrame(name: unknown): LabelFrame {
  if (name === 'FutureCursor') return { kind: 'future_cursor' };
  return { kind: name === 'ConsumerTooSlow' ? 'consumer_too_slow' : 'error' };
}
