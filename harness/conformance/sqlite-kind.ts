import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteSource } from '../../src/store/sqlite/copy/source.ts';
import { openSqliteTarget } from '../../src/store/sqlite/copy/target.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import type { StoreKind } from './subject.ts';

/** SQLite stores in temporary directories. */
export const sqliteKind: StoreKind = {
  name: 'sqlite',
  async place() {
    const folder = await mkdtemp(join(tmpdir(), 'almanac-store-'));
    return {
      write: (at, options = {}) => Promise.resolve().then(() => openSqliteWriter({ folder, at, ...options })),
      read: () => Promise.resolve().then(() => openSqliteReader(folder)),
      copied: () => Promise.resolve().then(() => openSqliteSource(folder)),
      copy: (generation) => Promise.resolve().then(() => openSqliteTarget(folder, generation)),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
};
