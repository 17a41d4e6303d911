/** Bounds on a message of which only a part has arrived. */
export interface PartialMessageOptions {
  /** Called with the bytes that have arrived of a message which is not complete; true when no more should be read for now. */
  readonly onPartial?: (bytes: number) => boolean;
  /** A message must be complete within this time from its first bytes, in milliseconds. */
  readonly partialMs?: number;
}

/** Follows the messages of one connection, which arrive in chunks of any size. */
export interface PartialMessage {
  /** True if reading should pause. */
  readonly isWaiting: boolean;
  /** A whole message of so many bytes was taken out of what arrived. */
  message(bytes: number): void;
  /** A chunk arrived, and the messages that it completes were taken out. */
  chunk(bytes: number): void;
  /** Records whether the caller is reading: a message does not time out while it is not. */
  setReading(reading: boolean): void;
  stop(): void;
}

/** While a connection waits for memory, it is looked at this often, in milliseconds. */
const lookMs = 250;
/** Bytes of a header of a message from a server, at most. */
const headerBytes = 10;

/**
 * Watches how much of an incomplete message is in memory, and for how long. Without it, a peer holds as much memory as the largest message
 * has by sending all of it but the last byte.
 */
export function watchPartialMessage(
  { onPartial = () => false, partialMs = Number.POSITIVE_INFINITY }: PartialMessageOptions,
  act: { pause: () => void; resume: () => void; late: () => void },
): PartialMessage {
  let partial = 0;
  let completed = 0;
  let hasCompleted = false;
  let isWaiting = false;
  let isReading = true;
  let lateMs = 0;
  let timer: NodeJS.Timeout | null = null;

  function report(): void {
    const isOver = onPartial(partial);
    if (isOver === isWaiting) return;
    isWaiting = isOver;
    if (isOver) act.pause();
    else act.resume();
  }

  function tick(): void {
    if (isReading) lateMs += lookMs;
    if (lateMs >= partialMs) act.late();
    else if (isWaiting) report();
  }

  function stop(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    get isWaiting() {
      return isWaiting;
    },
    message(bytes) {
      completed += bytes + (bytes < 126 ? 2 : bytes < 65_536 ? 4 : headerBytes);
      hasCompleted = true;
    },
    chunk(bytes) {
      partial = Math.max(0, partial + bytes - completed);
      // Fragments and control frames have headers of their own, which are not known here: no error lasts.
      if (hasCompleted) {
        partial = Math.min(partial, bytes);
        lateMs = 0;
      }
      completed = 0;
      hasCompleted = false;
      report();
      if (partial === 0) stop();
      else timer ??= setInterval(tick, lookMs);
    },
    setReading(reading) {
      isReading = reading;
    },
    stop() {
      stop();
      isWaiting = false;
      onPartial(0);
    },
  };
}
