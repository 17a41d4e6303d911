import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { publishedFact, simulateArchive, simulatedStart } from '../../../harness/archive/simulated-archive.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { hourMs } from '../../archive/days/calendar.ts';
import { checkArchive } from './machine.ts';

/** Returns the doctor's finding about the days of an archive, by its time after `simulatedStart` in hours. */
async function archivedDays(): Promise<(hours: number) => unknown> {
  const folder = folderInTest();
  const until = simulatedStart + 10 * hourMs;
  const archive = simulateArchive({
    respond: (path, now) => (now < until ? publishedFact(path, { now }) : { kind: 'failure', failure: 'unreachable' }),
  });
  await archive.run(16);
  for (const [path, bytes] of archive.content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return (hours) =>
    checkArchive(folder, null, simulatedStart + hours * hourMs).find(({ check }) => check === 'archived days');
}

it('the doctor warns two hours after the last response, although the archive has a line for each missed hour', async () => {
  const at = await archivedDays();
  expect(at(11)).toEqual({ check: 'archived days', level: 'ok', found: '0 closed and 1 open days', todo: null });
  expect(at(15.5)).toEqual({
    check: 'archived days',
    level: 'warn',
    found: '0 closed and 1 open days; not every fact was archived in the last two hours',
    todo: 'see the log of almanac archive',
  });
});

it('the doctor warns if the last archived hour is in the future', async () => {
  const at = await archivedDays();
  expect(at(8.5)).toEqual({
    check: 'archived days',
    level: 'warn',
    found: '0 closed and 1 open days; the last archived hour is in the future',
    todo: 'the clock was set back: check it',
  });
});
