import { type Origin, origins } from '../contract/vocabulary.ts';
import { StoreError } from './errors.ts';
import type { StoreReader, StoreWriter } from './port.ts';

/** Name of the note that records the origin of a store's observations. */
const originNote = 'origin';

/** Returns the origin of a store's observations. A store without the note, or with an unknown origin, is `live`. */
export async function storeOrigin(store: Pick<StoreReader, 'note'>): Promise<Origin> {
  const noted = await store.note(originNote);
  return origins.find((origin) => origin === noted) ?? 'live';
}

/**
 * Checks that a store has the given origin, because simulated and live observations must never be counted together.
 * Records the origin in a store that was never used, even if the origin is `live`: the first heartbeat may be late,
 * and a standby must not claim a different origin before this heartbeat. Throws `wrong_origin` if a used store has a
 * different origin.
 */
export async function claimOrigin(store: StoreWriter, origin: Origin): Promise<void> {
  const held = await storeOrigin(store);
  const [noted, heartbeat, { observedThrough }] = await Promise.all([
    store.note(originNote),
    store.heartbeat(),
    store.frontier(),
  ]);
  if (noted === null && heartbeat === null && observedThrough === null) {
    await store.putNote(originNote, origin);
    return;
  }
  if (held === origin) return;
  throw new StoreError(
    'wrong_origin',
    `the store contains ${held} observations, but the new observations would be ${origin}; use another store`,
  );
}
