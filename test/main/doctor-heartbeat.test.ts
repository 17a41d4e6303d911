import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { checkStore } from '../../src/main/doctor/stores.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const clockMs = Date.parse('2026-11-20T12:00:00Z');

test('the doctor reports a heartbeat in the future as such, and not as recent activity', async () => {
  const folder = join(folderInTest(), 'labels');
  const ahead = micros((clockMs + 3_600_000) * 1000);
  const writer = openSqliteWriter({ folder, at: ahead });
  await writer.beat(ahead);
  // The writer beats again after the clock was set back.
  await writer.beat(micros(clockMs * 1000));
  const found = async () =>
    (await checkStore(`sqlite:${folder}`, clockMs)).findings.filter(({ check }) => check === 'label writer');
  expect(await found()).toEqual([
    {
      check: 'label writer',
      level: 'fail',
      found:
        'a process holds the store, but its last heartbeat is 3600 s in the future: the clock was set back, or differs from that of its machine',
      todo: 'until the clock reaches that time, it may be stuck or store no labels: docs/operations/incidents.md#the-clock-was-set',
    },
  ]);
  await writer.close();
  expect(await found()).toEqual([
    {
      check: 'label writer',
      level: 'warn',
      found: 'none is running; the last heartbeat is 3600 s in the future',
      todo: 'start almanac labels: the time until it runs is a gap',
    },
  ]);
});
