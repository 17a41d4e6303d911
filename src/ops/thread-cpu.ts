/**
 * Returns the processor time of this thread, in milliseconds, or the elapsed time if the runtime does not provide it.
 */
export function threadCpuMs(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
