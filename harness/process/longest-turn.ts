/** Returns the processor time of the longest event-loop turn during `work`, in milliseconds. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [ended, longest, last] = [false, 0, process.threadCpuUsage().user];
  const turn = (): void => {
    const at = process.threadCpuUsage().user;
    longest = Math.max(longest, at - last);
    last = at;
    if (!ended) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  ended = true;
  // Include the last part of the work, or all the work if it never yielded.
  longest = Math.max(longest, process.threadCpuUsage().user - last);
  return longest / 1000;
}
