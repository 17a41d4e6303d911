import { setTimeout as wait } from 'node:timers/promises';

/** Default time limit for a condition, in milliseconds. It is long enough for a busy machine. */
const patienceMs = 60_000;

/**
 * Checks a condition every 20 ms and resolves when it is true. Rejects with a message that contains `what` if the
 * condition is not true within `withinMs`; a function describes the state at that time.
 */
export async function until(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  withinMs = patienceMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      const text = typeof what === 'string' ? what : what();
      throw new Error(`the condition was not met within ${withinMs} ms: ${text}`);
    }
    await wait(20);
  }
}
