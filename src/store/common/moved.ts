import { StoreError } from '../errors.ts';

/** Name of the note that marks a store as retired because a copy has replaced it. */
export const movedNote = 'store-moved';

/** Throws `moved` if the note is not null, that is, if a copy has replaced the store. */
export function assertNotMoved(note: string | null): void {
  if (note === null) return;
  throw new StoreError(
    'moved',
    'this store was copied with almanac store copy and can no longer be written to: use the copy, or run almanac store reopen',
  );
}

/** Creates the error for opening an incomplete copy. */
export function unfinishedCopy(place: string): StoreError {
  return new StoreError(
    'unfinished_copy',
    `${place} is an unfinished copy: run almanac store copy again with the same stores until it finishes`,
  );
}
