import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';

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
  const db = new Database(join(folder, 'state.sqlite'));
  db.exec(`DROP TABLE purge; ALTER TABLE day DROP COLUMN revision; ALTER TABLE epoch DROP COLUMN revision;
DELETE FROM migration WHERE version = 2; PRAGMA user_version = 1;`);
  db.close();
}
