import { copyFileSync, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { around, batch, problems } from '../../harness/conformance/suite.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { everyRow } from '../../harness/store/scan.ts';
import type { FileEvent } from '../../src/store/sqlite/base/files.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

it('a day whose creation was interrupted before its log was enabled is created again', async () => {
  const folder = folderInTest();
  const at = micros(Date.UTC(2026, 6, 4) * 1000);
  const first = openSqliteWriter({ folder, at });
  await first.append({ at, observations: [], refusals: [], positions: [] });
  const epoch = await first.epoch();
  await first.close();

  // These are the files that a kill leaves: the database with pages of an unfinished transaction, and its rollback
  // journal.
  const made = new Database(join(folder, 'made'));
  made.pragma('cache_size = 1');
  made.exec('BEGIN; CREATE TABLE x(y)');
  const insert = made.prepare('INSERT INTO x VALUES (randomblob(4000))');
  for (let n = 0; n < 50; n += 1) insert.run();
  const cut = join(folder, 'days', '2026-07-05.open.sqlite');
  copyFileSync(join(folder, 'made'), cut);
  copyFileSync(join(folder, 'made-journal'), `${cut}-journal`);
  made.close();

  const events: FileEvent[] = [];
  const second = openSqliteWriter({ folder, at: micros(at + day), onFile: (event) => events.push(event) });
  onTestFinished(() => second.close());
  expect(await second.epoch()).toEqual(epoch);
  expect(events).toMatchObject([
    { name: basename(cut), action: 'removed', reason: expect.stringContaining('unfinished') },
  ]);
  expect([existsSync(cut), existsSync(`${cut}-journal`)]).toEqual([false, false]);
  const accepted = await second.append(batch(micros(at + day), [1]));
  expect(accepted).toMatchObject({ accepted: 1, first: at + day });
  expect(existsSync(cut)).toBe(true);
  expect(await everyRow(second, around(at + day))).toMatchObject([{ observedAt: at + day, label: { val: 'porn' } }]);
  expect(await problems(second)).toEqual([]);
});
