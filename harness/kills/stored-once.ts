import type { Sim } from '../../sim/index.ts';
import { admit } from '../../src/labels/ingest/admission.ts';
import { identityOf } from '../../src/store/label.ts';
import { openStoreStandby } from '../../src/store/open.ts';
import { micros } from '../../src/store/time.ts';

/**
 * Compares each row of a store without a writer with the labels that a network has emitted. Returns the problems.
 * Counts alone would not reveal a lost row if another row is stored twice.
 */
export async function storedOnce(sim: Sim, url: string): Promise<string[]> {
  const stored = new Map<string, number>();
  const store = await openStoreStandby(url, { clock: () => micros(Date.now() * 1000) });
  const { startedAt } = await store.epoch();
  try {
    await store.follow((identity) => stored.set(identity, (stored.get(identity) ?? 0) + 1));
  } finally {
    await store.close();
  }
  const twice = [...stored.values()].filter((count) => count > 1).length;
  let lost = 0;
  for (const { did, log, edge } of sim.labelers.list) {
    for (let n = 1; n <= edge; n += 1) {
      const { label, emittedUs } = log.label(n);
      const admitted = admit(label, { source: did, epoch: startedAt, now: micros(Math.floor(emittedUs)) });
      if (admitted.kind === 'accepted' && !stored.delete(identityOf(admitted.label).toString('latin1'))) lost += 1;
    }
  }
  return [
    ...(lost > 0 ? [`${lost} labels are not stored`] : []),
    ...(twice > 0 ? [`${twice} labels are stored more than once`] : []),
    ...(stored.size > 0 ? [`${stored.size} rows do not match any emitted label`] : []),
  ];
}
