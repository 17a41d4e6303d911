import { type Origin, origins } from '../contract/vocabulary.ts';
import { StoreError } from './errors.ts';
import type { StoreReader, StoreWriter } from './port.ts';

/** Name of the note that records the origin of a store's observations. */
const originNote = 'origin';

/**
 * Returns the origin of a store's observations, which a new store records as a note. A store without the note is
 * `live`.
 */
export async function storeOrigin(store: Pick<StoreReader, 'note'>): Promise<Origin> {
  const noted = await store.note(originNote);
  return origins.find((origin) => origin === noted) ?? 'live';
}

/**
 * Records the origin of a store without observations, because simulated and live observations must never be counted
 * together. Throws StoreError `wrong_origin` for a store with another origin.
 */
export async function claimOrigin(store: StoreWriter, origin: Origin): Promise<void> {
  const held = await storeOrigin(store);
  if (held === origin) return;
  const [noted, heartbeat, { observedThrough }] = await Promise.all([
    store.note(originNote),
    store.heartbeat(),
    store.frontier(),
  ]);
  if (noted === null && heartbeat === null && observedThrough === null) {
    await store.putNote(originNote, origin);
    return;
  }
  throw new StoreError(
    'wrong_origin',
    `the store contains ${held} observations, but the new ones would be ${origin}; use another store`,
  );
}
