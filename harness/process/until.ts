import { setTimeout as wait } from 'node:timers/promises';

/** Default time after which a condition counts as never met, in milliseconds. It is far longer than a slow machine needs. */
const patienceMs = 120_000;

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
