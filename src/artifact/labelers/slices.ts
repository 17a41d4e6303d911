/** Divides long work on the event loop into slices, between which the event loop can run other tasks. */

/** Called between the small steps of long work. Returns a promise to await if the slice has ended; otherwise null. */
export type SliceEnd = () => Promise<void> | null;

/** Length of a slice in milliseconds. It is short, so that a turn stays below 10 ms even if its last step is long. */
const sliceMs = 2;

/** Creates the slices of one task. `monotonic` returns the time of a monotonic clock in milliseconds. */
export function slices(monotonic: () => number): SliceEnd {
  let endsAt = monotonic() + sliceMs;
  const nextTurn = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    endsAt = monotonic() + sliceMs;
  };
  return () => (monotonic() < endsAt ? null : nextTurn());
}
