import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noon } from '../../../../harness/conformance/labels.ts';
import { batch, many, today, useSqliteFolder } from '../../../../harness/store/sqlite-folder.ts';
import { day, micros } from '../../time.ts';
import type { FileEvent } from '../base/files.ts';
import { restoreStore } from './restore.ts';

/** Tests of a backup that is copied a second time, over a first copy of the running store. */

const place = useSqliteFolder();
const at = micros(noon + day);
let root = '';
let backup = '';
let restored = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'almanac-backup-'));
  backup = join(root, 'backup');
  restored = join(root, 'restored');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Copies the store over the files of the backup, as `rsync -a` does without `--delete`. */
function copyAll(): void {
  cpSync(place.path, backup, { recursive: true, preserveTimestamps: true });
}

/**
 * Copies the running store, adds 5,000 rows and closes the store. With `folded`, the first copy's logs contain only the
 * pages of one row, and otherwise all pages.
 */
async function copyThenAdd(folded: boolean): Promise<void> {
  let writer = place.open();
  for (let n = 0; n < 3; n++) await writer.append(many(n));
  if (folded) {
    await place.close();
    writer = place.open();
    await writer.append(batch([3_000]));
  }
  copyAll();
  expect(existsSync(join(backup, 'days', `${today}-wal`))).toBe(true);
  for (let n = 4; n < 9; n++) await writer.append(many(n));
  await place.close();
}

test('a backup with a write-ahead log of an earlier copy is refused with the probable cause', async () => {
  await copyThenAdd(true);
  copyAll();
  await expect(restoreStore({ from: backup, folder: restored, at })).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringMatching(
      /; older than their databases: .+-wal; was the backup copied without --delete\?$/,
    ) as string,
  });
});

test('a backup that a write-ahead log of an earlier copy reverts as a whole is restored with a report of the log', async () => {
  await copyThenAdd(false);
  copyAll();
  const events: FileEvent[] = [];
  const onFile = (event: FileEvent) => events.push(event);
  const { days } = await restoreStore({ from: backup, folder: restored, at, onFile });
  expect(days.map(({ day: name, rows }) => [name, rows])).toEqual([['2024-10-04', 3_000]]);
  const reason = 'the log is older than its database: if the backup was copied without --delete, rows may be missing';
  expect(events).toEqual([
    { name: 'state.sqlite-wal', day: null, action: 'left', reason },
    { name: `${today}-wal`, day: '2024-10-04', action: 'left', reason },
  ]);
});

test('a backup that is copied again with deletions is restored with all rows', async () => {
  await copyThenAdd(true);
  rmSync(backup, { recursive: true });
  copyAll();
  const events: FileEvent[] = [];
  const onFile = (event: FileEvent) => events.push(event);
  const { days } = await restoreStore({ from: backup, folder: restored, at, onFile });
  expect(days.map(({ day: name, rows }) => [name, rows])).toEqual([['2024-10-04', 8_001]]);
  expect(events).toEqual([]);
});
