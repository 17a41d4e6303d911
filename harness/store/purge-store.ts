import type { NewObservation, StoreWriter } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';
import { labelers, labelNumber, noon, observationOf, subjects } from '../conformance/labels.ts';

/** A store with two sealed days and three open ones, from which one labeler is purged. */

const [first = '', second = ''] = labelers;
const [alice = ''] = subjects;
/** The labeler whose rows are purged. */
export const hostile = first;
/** Time of the purge's request. */
export const requestedAt = micros(noon + 4 * day + 1_000_000);
/**
 * Number of the labeler's rows in each day, all at one instant. The number exceeds the rows that two commits remove.
 */
export const hostileRows = 1_200;
/** Number of other labelers' rows in each day. */
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
