import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Batch } from '../../src/store/port.ts';
import { openSqliteWriter, type SqliteWriter, type SqliteWriterOptions } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';
import { noon, subjects } from '../conformance/labels.ts';
import * as suite from '../conformance/suite.ts';
import { changeFile } from './earlier-store.ts';

export const [alice = ''] = subjects;
/** File name of the day that the tests write, while the day is open. */
export const today = '2024-10-04.open.sqlite';
/** File name of the same day after sealing. */
export const sealedToday = '2024-10-04.sealed.sqlite';

/** Query for all rows about the account alice. */
export const page = {
  account: alice,
  start: noon,
  end: micros(noon + 30 * day),
  order: 'oldest',
  after: null,
  limit: 500,
} as const;

/**
 * A store in a separate directory for each test of a file. It has at most one writer at a time, which is closed after
 * the test.
 */
interface SqliteFolder {
  readonly path: string;
  open(options?: Partial<SqliteWriterOptions>): SqliteWriter;
  close(): Promise<void>;
  dayPath(name: string): string;
  dayNames(): Promise<string[]>;
  /** Changes a day file without using the store. */
  change(name: string, sql: string): void;
  /** Changes the state file without using the store. */
  changeState(sql: string): void;
  /** Creates a closed store whose first day is sealed and contains 70 rows about one account. */
  sealBusyDay(): Promise<void>;
}

export function useSqliteFolder(): SqliteFolder {
  let path = '';
  let store: SqliteWriter | null = null;
  const close = async (): Promise<void> => {
    await store?.close();
    store = null;
  };
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'almanac-sqlite-'));
  });
  afterEach(async () => {
    await close();
    await rm(path, { recursive: true, force: true });
  });
  const open: SqliteFolder['open'] = (options = {}) => {
    store = openSqliteWriter({ folder: path, at: noon, ...options });
    return store;
  };
  const dayPath = (name: string) => join(path, 'days', name);
  return {
    get path() {
      return path;
    },
    open,
    close,
    dayPath,
    dayNames: () => readdir(join(path, 'days')),
    change: (name, sql) => changeFile(dayPath(name), sql),
    changeState: (sql) => changeFile(join(path, 'state.sqlite'), sql),
    async sealBusyDay() {
      const writer = open({ at: micros(noon - day) });
      await writer.append(batch(Array.from({ length: 70 }, (_, i) => 4 * i)));
      await writer.append({ ...batch([1_000]), at: micros(noon + 4 * day) });
      expect((await writer.maintain(micros(noon + 4 * day))).sealed).toEqual(['2024-10-04']);
      await close();
    },
  };
}

/** Returns a batch of numbered labels, accepted at noon. */
export function batch(numbers: readonly number[]): Batch {
  return suite.batch(noon, numbers);
}

/** Returns a batch of 1,000 labels. Batches with different `n` have no label in common. */
export function many(n: number): Batch {
  return batch(Array.from({ length: 1_000 }, (_, i) => n * 1_000 + i));
}
