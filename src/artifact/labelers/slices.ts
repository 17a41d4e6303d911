/** Divides long work on the event loop into slices, between which other work runs. */

/** Must be called between two small steps of long work. Returns a promise to await if the slice has ended, or null. */
export type SliceEnd = () => Promise<void> | null;

/** Maximum length of a slice in milliseconds: well below 10, because the last step may exceed it. */
const sliceMs = 2;

/** Creates the slices of one piece of work. `monotonic` returns milliseconds of a clock that is never set. */
export function slices(monotonic: () => number): SliceEnd {
  let endsAt = monotonic() + sliceMs;
  const nextTurn = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    endsAt = monotonic() + sliceMs;
  };
  return () => (monotonic() < endsAt ? null : nextTurn());
}
