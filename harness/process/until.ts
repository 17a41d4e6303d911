import { setTimeout as wait } from 'node:timers/promises';

/** Default time after which a condition counts as not met, in milliseconds: sufficient for a busy machine. */
const patienceMs = 60_000;

/**
 * Resolves when a condition holds, which is checked every 10 ms. Rejects with `what` if it does not hold within
 * `withinMs`.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = patienceMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`the condition was not met within ${withinMs} ms: ${what}`);
    await wait(10);
  }
}
