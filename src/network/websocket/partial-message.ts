/**
 * First bytes of an unfragmented text message and of an unfragmented binary message, without extensions (RFC 6455,
 * 5.2).
 */
const text = 0x81;
const binary = 0x82;
/** First bytes of a ping and of a pong. */
const ping = 0x89;
const pong = 0x8a;
/**
 * Length codes that announce a length field of two bytes and of eight bytes. A larger value of this byte means that
 * the frame is masked.
 */
const twoByteLength = 126;
const eightByteLength = 127;

/** Limit and consumers of the frames of a connection. */
interface FrameLaneOptions {
  /** Maximum size of a message, in bytes. */
  readonly maxBytes: number;
  /** Called with each message that is complete in its chunk. The bytes are a view of the chunk. */
  readonly message: (data: Buffer, isBinary: boolean) => void;
  /**
   * Called with all other bytes, in whole frames over several calls. `isLast` is true if the library must receive all
   * bytes that follow.
   */
  readonly rest: (bytes: Buffer, isLast: boolean) => void;
}

/**
 * Separates the complete messages of a chunk from the bytes that a websocket library has to parse. Handles only
 * unfragmented text and binary messages up to 64 KiB that are complete in one chunk. Nearly all frames of a busy
 * stream are of this kind, and a library spends more time on such a frame than this program spends on its content.
 *
 * The library receives every incomplete or longer message, ping and pong as a whole frame, so its state and its
 * checks stay valid. Starting with the first frame of any other kind (fragment, close, protocol violation, too
 * large), the library receives all bytes, and `chunk` returns false.
 */
export class FrameLane {
  readonly #options: FrameLaneOptions;
  /** Header of the frame that the library is receiving; empty between frames. */
  #header: number[] = [];
  /**
   * Number of missing payload bytes of the frame that the library is receiving, or null while its header is incomplete.
   */
  #missing: number | null = null;

  constructor(options: FrameLaneOptions) {
    this.#options = options;
  }

  /** Handles the next chunk. Returns false if the library must receive all bytes that follow this chunk. */
  chunk(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length) {
      const next = this.#header.length === 0 ? this.#messages(bytes, at) : at;
      if (next === bytes.length) return true;
      at = this.#forward(bytes, next);
    }
    return at === bytes.length;
  }

  /** Passes on the complete messages from an index. Returns the index of the first other frame. */
  #messages(bytes: Buffer, from: number): number {
    const { maxBytes, message } = this.#options;
    let at = from;
    // The last header of a chunk may lack up to two bytes. In that case `end` exceeds `bytes.length`, so the frame is
    // left to the library.
    while (at + 2 <= bytes.length) {
      const first = bytes[at];
      if (first !== text && first !== binary) return at;
      let size = bytes[at + 1] ?? 0;
      let start = at + 2;
      if (size === twoByteLength) {
        size = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
        start = at + 4;
      } else if (size > twoByteLength) return at;
      const end = start + size;
      if (end > bytes.length || size > maxBytes) return at;
      message(bytes.subarray(start, end), first === binary);
      at = end;
    }
    return at;
  }

  /**
   * Passes the received bytes of the frame at an index to the library. Returns the index after these bytes, or infinity
   * if all following bytes were also passed.
   */
  #forward(bytes: Buffer, from: number): number {
    let at = from;
    while (this.#missing === null && at < bytes.length) {
      this.#header.push(bytes[at] ?? 0);
      at += 1;
      const missing = this.#payloadBytes();
      if (missing === 'unusual') {
        this.#options.rest(bytes.subarray(from), true);
        return Number.POSITIVE_INFINITY;
      }
      this.#missing = missing;
    }
    const end = Math.min(bytes.length, at + (this.#missing ?? 0));
    if (this.#missing !== null) this.#missing -= end - at;
    if (this.#missing === 0) {
      this.#header = [];
      this.#missing = null;
    }
    this.#options.rest(bytes.subarray(from, end), false);
    return end;
  }

  /**
   * Returns the size of the payload, null while the header is incomplete, or `unusual` if the library must read this
   * frame and all following ones.
   */
  #payloadBytes(): number | null | 'unusual' {
    const [first, second, ...length] = this.#header;
    const isControl = first === ping || first === pong;
    if (!isControl && first !== text && first !== binary) return 'unusual';
    if (second === undefined) return null;
    if (second > (isControl ? twoByteLength - 1 : eightByteLength)) return 'unusual';
    if (second < twoByteLength) return this.#admit(second);
    if (length.length < (second === twoByteLength ? 2 : 8)) return null;
    return this.#admit(length.reduce((size, byte) => size * 256 + byte, 0));
  }

  #admit(size: number): number | 'unusual' {
    return size > this.#options.maxBytes ? 'unusual' : size;
  }
}

/** Limits for a partially received message. */
export interface PartialMessageOptions {
  /** Called with the received bytes of an incomplete message; returns true to pause reading. */
  readonly onPartial?: (bytes: number) => boolean;
  /** Timeout of a message in milliseconds, from its first bytes to its last; no timeout by default. */
  readonly partialMs?: number;
}

/** A watch for incomplete messages on one connection, on which messages arrive in chunks of any size. */
export interface PartialMessage {
  /** True if the caller should pause reading. */
  readonly isWaiting: boolean;
  /** Records that a complete message of this size was taken from the received bytes. */
  message(bytes: number): void;
  /** Records that a complete ping or pong with a payload of this size was taken from the received bytes. */
  control(bytes: number): void;
  /**
   * Records the arrival of a chunk. Must be called after the messages, pings and pongs that the chunk completes were
   * recorded.
   */
  chunk(bytes: number): void;
  /** Records whether the caller is reading. A message does not time out while the caller is not reading. */
  setReading(reading: boolean): void;
  stop(): void;
}

/** Callbacks of a watch for incomplete messages. */
interface PartialMessageActions {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called when a message has exceeded its timeout. */
  readonly late: () => void;
}

/** Interval between checks of an incomplete message, in milliseconds. */
const checkMs = 250;
/** Maximum size of a message header from a server, in bytes. */
const headerBytes = 10;
/** Size of the header of a ping or pong from a server, in bytes. */
const controlHeaderBytes = 2;

/**
 * Creates a watch of the size and age of an incomplete message. Without the watch, a peer could occupy memory
 * permanently by sending all bytes of a large message except the last one.
 */
export function watchPartialMessage(options: PartialMessageOptions, act: PartialMessageActions): PartialMessage {
  return new PartialMessageWatch(options, act);
}

class PartialMessageWatch implements PartialMessage {
  readonly #onPartial: (bytes: number) => boolean;
  readonly #partialMs: number;
  readonly #act: PartialMessageActions;
  #partial = 0;
  #completed = 0;
  #hasCompleted = false;
  #isWaiting = false;
  #isReading = true;
  #lateMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    { onPartial = () => false, partialMs = Number.POSITIVE_INFINITY }: PartialMessageOptions,
    act: PartialMessageActions,
  ) {
    this.#onPartial = onPartial;
    this.#partialMs = partialMs;
    this.#act = act;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  message(bytes: number): void {
    this.#completed += bytes + (bytes < 126 ? 2 : bytes < 65_536 ? 4 : headerBytes);
    this.#hasCompleted = true;
  }

  control(bytes: number): void {
    // A ping or pong may arrive between the fragments of a message, and does not show that the message continues.
    this.#completed += bytes + controlHeaderBytes;
  }

  chunk(bytes: number): void {
    this.#partial = Math.max(0, this.#partial + bytes - this.#completed);
    // Reset the estimate at each complete message, because the estimate ignores the headers of fragments.
    if (this.#hasCompleted) {
      this.#partial = Math.min(this.#partial, bytes);
      this.#lateMs = 0;
    }
    this.#completed = 0;
    this.#hasCompleted = false;
    this.#report();
    if (this.#partial === 0) this.#stopTimer();
    else this.#timer ??= setInterval(() => this.#tick(), checkMs);
  }

  setReading(reading: boolean): void {
    this.#isReading = reading;
  }

  stop(): void {
    this.#stopTimer();
    this.#isWaiting = false;
    this.#onPartial(0);
  }

  #report(): void {
    const isOver = this.#onPartial(this.#partial);
    if (isOver === this.#isWaiting) return;
    this.#isWaiting = isOver;
    if (isOver) this.#act.pause();
    else this.#act.resume();
  }

  #tick(): void {
    if (this.#isReading) this.#lateMs += checkMs;
    if (this.#lateMs >= this.#partialMs) this.#act.late();
    else if (this.#isWaiting) this.#report();
  }

  #stopTimer(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}
