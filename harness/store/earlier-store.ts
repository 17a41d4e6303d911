import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import type { SubjectKey } from '../../src/store/sqlite/base/row.ts';
import { filterBlocks, subjectsSql } from '../../src/store/sqlite/day/account-rows.ts';

const files = join(import.meta.dirname, '../../test/store/schema-2');

/** Writes the store in `test/store/schema-2` into a directory. An earlier version of the program created it. */
export function writeEarlierStore(folder: string): void {
  for (const file of readdirSync(files).filter((name) => name.endsWith('.gz'))) {
    const path = join(folder, file.replace(/^days-/, 'days/').replace(/\.gz$/, ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, gunzipSync(readFileSync(join(files, file))));
  }
}

/** Converts the state file of the earlier store to schema 1, which does not record purges. */
export function toStateSchema1(folder: string): void {
  changeFile(
    join(folder, 'state.sqlite'),
    `DROP TABLE purge; ALTER TABLE day DROP COLUMN revision; ALTER TABLE epoch DROP COLUMN revision;
DELETE FROM migration WHERE version = 2; PRAGMA user_version = 1;`,
  );
}

/** Replaces the blocks of the subject filter of a sealed day with blocks in the format of version 3. */
export function withoutPlaces(path: string): void {
  const db = new Database(path);
  const subjects = db.prepare<[], SubjectKey>(subjectsSql).pluck().all();
  const replace = db.prepare('UPDATE subject_filter SET bits = ? WHERE block = ?');
  for (const [block, bits] of filterBlocks(subjects, subjects.length, false).entries()) replace.run(bits, block);
  db.close();
}

/** Changes a file of a store without using the store. */
export function changeFile(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}
