import { setTimeout as wait } from 'node:timers/promises';

/** Default time in milliseconds after which a condition counts as not met. The time suffices on a busy machine. */
const patienceMs = 60_000;

/**
 * Checks a condition every 10 ms, and resolves when it is true. Rejects with `what` if the condition is not true within
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
