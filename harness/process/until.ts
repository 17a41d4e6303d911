import { setTimeout as wait } from 'node:timers/promises';

/** Default time after which a condition counts as never met, in milliseconds. It is far longer than a slow machine needs. */
const patienceMs = 120_000;

/** Minimum and maximum time between two checks of a condition, in milliseconds. */
const betweenChecksMs = { min: 20, max: 1_000 };

/**
 * Checks a condition repeatedly and resolves when it is true. After each check it waits as long as the check took, but
 * at least 20 ms and at most 1 s, so that costly checks do not slow down what they wait for. Rejects with a message that
 * contains `what` if the condition is not true within `withinMs`; a function describes the state at that time.
 */
export async function until(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  withinMs = patienceMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const began = performance.now();
    if (await holds()) return;
    const checked = performance.now();
    if (checked > deadline) {
      const text = typeof what === 'string' ? what : what();
      throw new Error(`the condition was not met within ${withinMs} ms: ${text}`);
    }
    await wait(Math.min(Math.max(betweenChecksMs.min, checked - began), betweenChecksMs.max));
  }
}
