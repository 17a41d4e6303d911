/** Returns the processor time of the longest turn of the event loop during some work, in milliseconds. */
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
  return longest / 1000;
}
