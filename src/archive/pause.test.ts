import { expect, it } from 'vitest';
import { type MemoryArchive, memoryArchive } from '../../harness/archive/memory-files.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';

/**
 * An older copy of an archive looks like an archive that was stopped. A pause is reported once if a day became due
 * for closing during it.
 */

/** Runs an archive for `hours`, continues it at hour `later`, and returns the start of each reported pause. */
async function reported(hours: number, later: number, memory: MemoryArchive = memoryArchive()) {
  const archive = simulateArchive({ memory });
  await archive.run(hours);
  archive.restart();
  await archive.run(3, later);
  return archive.messages.filter(({ message }) => message.includes('older copy')).map(({ fields }) => fields.since);
}

it('a pause is reported only if a day became due during the pause', async () => {
  expect(await reported(60, 121)).toEqual(['2026-11-22T11:00:00Z']);
  expect(await reported(60, 73)).toEqual(['2026-11-22T11:00:00Z']);
  expect(await reported(74, 97)).toEqual(['2026-11-23T01:00:00Z']);
  expect(await reported(60, 71)).toEqual([]);
  expect(await reported(74, 90)).toEqual([]);
});

it('a restart in the hour in which a day becomes due is not a pause', async () => {
  expect(await reported(72, 72)).toEqual([]);
});

it('a new archive is not reported as an older copy', async () => {
  expect(await reported(0, 0)).toEqual([]);
});
