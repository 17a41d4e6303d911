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
