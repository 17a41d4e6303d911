import type { NewObservation, StoreWriter } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';
import { labelers, labelNumber, noon, observationOf, subjects } from '../conformance/labels.ts';

/** A store with two sealed and three open days, from which one labeler is purged. */

const [first = '', second = ''] = labelers;
const [alice = ''] = subjects;
/** DID of the labeler whose rows are purged. */
export const hostile = first;
/** Time at which the purge is requested, in microseconds. */
export const requestedAt = micros(noon + 4 * day + 1_000_000);
/**
 * Number of the labeler's rows on each day, all accepted at the same time. A purge needs more than two commits to
 * remove them.
 */
export const hostileRows = 1_200;
/** Number of the other labelers' rows on each day. */
export const otherRows = 300;
const days = 5;

/** Writes the rows of the purge tests into an empty store. */
export async function fillForPurge(store: StoreWriter): Promise<void> {
  for (let d = 0; d < days; d++) {
    await store.append({
      at: micros(noon + d * day),
      observations: observations(d),
      refusals: [{ source: hostile, reason: 'late', count: 2 }],
      positions: [{ source: hostile, endpoint: 'wss://e.example', value: String(d) }],
    });
  }
  await store.maintain(micros(noon + 4 * day));
}

function observations(d: number): NewObservation[] {
  return Array.from({ length: hostileRows + otherRows }, (_, i) => {
    const isHostile = i % 5 !== 0;
    const change = {
      src: isHostile ? hostile : second,
      ...(i % 2 === 0 ? { uri: alice } : {}),
      ...(isHostile ? { val: 'insult' } : {}),
    };
    return observationOf(labelNumber(10_000 * d + i, change));
  });
}
