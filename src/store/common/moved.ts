import { StoreError } from '../errors.ts';

/** Name of the note of a store that was copied to another place, which replaces it. */
export const movedNote = 'store-moved';

/** Throws `moved` if a store has the note. */
export function assertNotMoved(note: string | null): void {
  if (note === null) return;
  throw new StoreError(
    'moved',
    'this store was copied with almanac store copy and is not written any more: use the copy, or run almanac store reopen',
  );
}

/** Creates the error of opening a copy that is not complete. */
export function unfinishedCopy(place: string): StoreError {
  return new StoreError(
    'unfinished_copy',
    `${place} is an unfinished copy: run almanac store copy again with the same stores, until it has finished`,
  );
}
