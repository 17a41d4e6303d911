import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Returns the longest turn of the event loop during `work`, in milliseconds. A turn counts with its processor time or
 * its elapsed time, whichever is less: the kernel counts processor time in ticks of several milliseconds, and elapsed
 * time includes the work of other processes.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [ended, longest] = [false, 0];
  let [cpuAt, at] = [process.threadCpuUsage().user, performance.now()];
  const measure = (): void => {
    const [cpuNow, now] = [process.threadCpuUsage().user, performance.now()];
    longest = Math.max(longest, Math.min((cpuNow - cpuAt) / 1000, now - at));
    [cpuAt, at] = [cpuNow, now];
  };
  const turn = (): void => {
    measure();
    if (!ended) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  ended = true;
  // Include the last part of the work, or all the work if it never yielded.
  measure();
  return longest;
}

/** Number of objects that the control keeps, and time after which it yields, in milliseconds. */
const [keptObjects, sliceMs] = [400_000, 2];

/** Keeps many objects and yields every 2 ms, so that its longest turn is one collection of garbage. */
async function controlWork(): Promise<void> {
  const kept: object[] = [];
  let end = performance.now() + sliceMs;
  for (let at = 0; at < keptObjects; at += 1) {
    kept.push({ at, name: `n${at}`, list: [at] });
    if (at % 64 !== 0 || performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + sliceMs;
  }
}

/**
 * Returns the longest turn of the best of several runs of `work`, as a part of the permitted `boundMs`. If a collection
 * of garbage alone takes longer than half the bound on this machine at the moment, two such collections are permitted:
 * no program can keep its turns shorter. A control right before each run measures this.
 */
export async function shareOfBound(boundMs: number, runs: number, work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const control = await longestTurn(controlWork);
    least = Math.min(least, (await longestTurn(work)) / Math.max(boundMs, 2 * control));
  }
  return least;
}
