import type { Duplex } from 'node:stream';

/** Interval between the writes of all floods, in milliseconds. */
const tickMs = 5;
/** Maximum number of unsent bytes buffered for one flood. */
const waitingBytes = 256 * 1024;

interface Flood {
  readonly socket: Duplex;
  readonly next: () => Uint8Array;
}

/**
 * All floods of a process. They take turns and share a limit of bytes per second, because the attackers run on the same
 * machine as the program under test.
 */
export class Floods {
  /** Number of bytes that all floods have written so far. */
  bytes = 0;
  readonly #bytesPerTick: number;
  readonly #floods = new Set<Flood>();
  #timer: NodeJS.Timeout | null = null;

  constructor(bytesPerSecond: number) {
    this.#bytesPerTick = (bytesPerSecond * tickMs) / 1000;
  }

  /** Writes to a socket until the socket closes or `stop` is called. `next` returns the bytes of one write. */
  add(socket: Duplex, next: () => Uint8Array): void {
    const flood = { socket, next };
    this.#floods.add(flood);
    socket.once('close', () => this.#floods.delete(flood));
    this.#timer ??= setInterval(() => this.#pump(), tickMs);
  }

  /** Ends all floods, and leaves their sockets open. */
  stop(): void {
    this.#floods.clear();
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #pump(): void {
    let left = this.#bytesPerTick;
    // Each flood gets one turn per tick and then moves to the end of the queue. If the limit is reached, the next tick
    // begins with the floods that had no turn.
    for (const flood of [...this.#floods]) {
      if (left <= 0) return;
      this.#floods.delete(flood);
      this.#floods.add(flood);
      if (flood.socket.writableLength > waitingBytes) continue;
      const bytes = flood.next();
      left -= bytes.length;
      this.bytes += bytes.length;
      flood.socket.write(bytes);
    }
  }
}
