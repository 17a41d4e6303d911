import { setTimeout as wait } from 'node:timers/promises';

/** Time after which a condition that a test waits for counts as not met, in milliseconds: longer than a busy machine needs. */
const patienceMs = 60_000;

/** Waits until a condition holds, checked every 10 ms. Rejects with `what` if it does not hold within `withinMs`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = patienceMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`did not hold within ${withinMs} ms: ${what}`);
    await wait(10);
  }
}
