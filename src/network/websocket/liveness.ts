/** Deadlines of an open connection, in milliseconds. */
export interface LivenessOptions {
  /** Between pings. */
  readonly pingMs: number;
  /** After a ping something must arrive within this: a pong, or anything else. */
  readonly pongMs: number;
  /** Without a message for this long the connection is of no use, even where it answers pings. */
  readonly idleMs: number;
}

/** Watches whether a peer is alive. */
export interface Liveness {
  /** A message came. Called for each, so it only sets a mark. */
  message(): void;
  /** Something else came: a ping or a pong. */
  control(): void;
  /** We do not read: silence is ours. */
  pause(): void;
  resume(): void;
  stop(): void;
}

/**
 * Silence is counted in ticks of a timer, not by a clock: a tick that comes late because this process was busy counts
 * once, so that a peer is never blamed for time in which this process was not reading. A deadline is met up to a quarter of
 * the shortest one late.
 */
export function watchLiveness(
  options: LivenessOptions,
  act: { ping: () => void; dead: (why: 'pong_timeout' | 'idle') => void },
): Liveness {
  const tickMs = Math.max(1, Math.floor(Math.min(options.pingMs, options.pongMs, options.idleMs) / 4));
  const pingTicks = Math.ceil(options.pingMs / tickMs);
  const pongTicks = Math.ceil(options.pongMs / tickMs);
  const idleTicks = Math.ceil(options.idleMs / tickMs);
  let messageCame = false;
  let controlCame = false;
  let silentTicks = 0;
  let ticksToPing = pingTicks;
  /** Ticks since the ping that is unanswered, or null. */
  let unanswered: number | null = null;
  let paused = false;

  const timer = setInterval(tick, tickMs);

  function startOver(): void {
    messageCame = false;
    controlCame = false;
    silentTicks = 0;
    unanswered = null;
    ticksToPing = pingTicks;
  }

  function tick(): void {
    if (paused) return;
    if (messageCame || controlCame) unanswered = null;
    silentTicks = messageCame ? 0 : silentTicks + 1;
    messageCame = false;
    controlCame = false;
    if (unanswered !== null) unanswered += 1;
    if (silentTicks >= idleTicks) act.dead('idle');
    else if (unanswered !== null && unanswered >= pongTicks) act.dead('pong_timeout');
    else pingWhenDue();
  }

  function pingWhenDue(): void {
    ticksToPing -= 1;
    if (ticksToPing > 0) return;
    ticksToPing = pingTicks;
    unanswered ??= 0;
    act.ping();
  }

  return {
    message() {
      messageCame = true;
    },
    control() {
      controlCame = true;
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      startOver();
    },
    stop() {
      clearInterval(timer);
    },
  };
}
