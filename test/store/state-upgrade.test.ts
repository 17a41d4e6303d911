import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { batch, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';

const place = useSqliteFolder();
const [mod = ''] = labelers;

/** Converts the state file to the schema without purges. */
function downgrade(): void {
  const db = new Database(`${place.path}/state.sqlite`);
  db.exec(`DROP TABLE purge; ALTER TABLE day DROP COLUMN revision; ALTER TABLE epoch DROP COLUMN revision;
DELETE FROM migration WHERE version = 2; PRAGMA user_version = 1;`);
  db.close();
}

it('a reader of a state file of schema 1 reads it, and sees purges once a writer has migrated it to schema 2', async () => {
  await place.open().append(batch([0, 3]));
  await place.close();
  downgrade();
  const reader = openSqliteReader(place.path);
  expect(await reader.frontier()).toMatchObject({ revision: 0 });
  expect(await reader.purges()).toEqual([]);
  expect(await reader.countsByLabeler({ start: noon, end: (await reader.frontier()).end })).toHaveLength(1);
  const writer = place.open();
  const { end } = await reader.frontier();
  await writer.requestPurge({ source: mod, at: end });
  while (await writer.purge(end));
  expect((await reader.frontier()).revision).toBeGreaterThan(0);
  expect(await reader.purges()).toMatchObject([{ source: mod, rows: 2, completedAt: end }]);
  expect(await reader.countsByLabeler({ start: noon, end })).toEqual([]);
  await reader.close();
});
