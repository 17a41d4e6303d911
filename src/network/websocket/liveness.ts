/** Deadlines of an open connection, in milliseconds. */
export interface LivenessOptions {
  /** Interval between pings, in milliseconds. */
  readonly pingMs: number;
  /** Maximum time in milliseconds from a ping to a pong or other data. */
  readonly pongMs: number;
  /** Maximum time in milliseconds without a message, even if the peer responds to pings. */
  readonly idleMs: number;
}

/** A watch that detects a dead peer. */
export interface Liveness {
  /** Records the arrival of a message. Only sets a flag, because it runs for every message. */
  message(): void;
  /** Records the arrival of a ping or pong. */
  control(): void;
  /** Suspends the deadlines while this process does not read. */
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Callbacks of a connection watch. */
interface LivenessActions {
  /** Sends a ping. */
  readonly ping: () => void;
  /** Called when the peer has missed a deadline. */
  readonly dead: (why: 'pong_timeout' | 'idle') => void;
}

/**
 * Starts to watch a connection. Silence is counted in ticks of a timer and not by a clock: a late tick of a busy
 * process counts once, so time in which the process did not read is not counted as silence of the peer. A missed
 * deadline is detected with a delay of at most a quarter of the shortest deadline.
 */
export function watchLiveness(options: LivenessOptions, act: LivenessActions): Liveness {
  return new TickingLiveness(options, act);
}

class TickingLiveness implements Liveness {
  readonly #act: LivenessActions;
  readonly #ticks: { readonly ping: number; readonly pong: number; readonly idle: number };
  readonly #timer: NodeJS.Timeout;
  #messageCame = false;
  #controlCame = false;
  #silentTicks = 0;
  #ticksToPing: number;
  /** Number of ticks since the first unanswered ping, or null if no ping awaits a response. */
  #unanswered: number | null = null;
  #isPaused = false;

  constructor({ pingMs, pongMs, idleMs }: LivenessOptions, act: LivenessActions) {
    const tickMs = Math.max(1, Math.floor(Math.min(pingMs, pongMs, idleMs) / 4));
    const ticks = (milliseconds: number): number => Math.ceil(milliseconds / tickMs);
    this.#act = act;
    this.#ticks = { ping: ticks(pingMs), pong: ticks(pongMs), idle: ticks(idleMs) };
    this.#ticksToPing = this.#ticks.ping;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  message(): void {
    this.#messageCame = true;
  }

  control(): void {
    this.#controlCame = true;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#messageCame = false;
    this.#controlCame = false;
    this.#silentTicks = 0;
    this.#unanswered = null;
    this.#ticksToPing = this.#ticks.ping;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#isPaused) return;
    if (this.#messageCame || this.#controlCame) this.#unanswered = null;
    this.#silentTicks = this.#messageCame ? 0 : this.#silentTicks + 1;
    this.#messageCame = false;
    this.#controlCame = false;
    if (this.#unanswered !== null) this.#unanswered += 1;
    if (this.#silentTicks >= this.#ticks.idle) this.#act.dead('idle');
    else if (this.#unanswered !== null && this.#unanswered >= this.#ticks.pong) this.#act.dead('pong_timeout');
    else this.#pingWhenDue();
  }

  #pingWhenDue(): void {
    this.#ticksToPing -= 1;
    if (this.#ticksToPing > 0) return;
    this.#ticksToPing = this.#ticks.ping;
    this.#unanswered ??= 0;
    this.#act.ping();
  }
}
