/**
 * Returns the processor time of this thread, in milliseconds, or the elapsed time if the runtime does not provide it.
 */
export function threadCpuMs(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Returns the time for which this thread did not use the processor, in milliseconds since an arbitrary start. It is
 * constant if the runtime does not provide the processor time of a thread.
 */
export function threadIdleMs(): number {
  return performance.now() - threadCpuMs();
}
