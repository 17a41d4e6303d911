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
