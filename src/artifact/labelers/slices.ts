/** Divides long work on the event loop into slices, between which the event loop can run other tasks. */

/** Called between the small steps of long work. Returns a promise to await if the slice has ended; otherwise null. */
export type SliceEnd = () => Promise<void> | null;

/** Length of a slice in milliseconds. It is well below 10 because the last step may exceed it. */
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
