import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderInTest } from '../../../../harness/process/folder.ts';
import { StoreError } from '../../errors.ts';
import {
  applicationId,
  assertPragma,
  type Migration,
  migrate,
  openWritable,
  schemaVersion,
  setPragma,
  settled,
  storeError,
} from './connection.ts';

it('a read-only connection throws not_a_store if its file was removed before the first read', () => {
  const folder = folderInTest();
  const path = join(folder, 'day.sqlite');
  const writer = openWritable(path, 1024 * 1024);
  onTestFinished(() => void writer.close());
  writer.pragma(`application_id = ${applicationId}`);
  const reader = new Database(path, { readonly: true });
  rmSync(path);
  expect(() => settled(reader, path, 1024 * 1024)).toThrow(expect.objectContaining({ code: 'not_a_store' }));
  expect(reader.open).toBe(false);
});

function ofSystem(code: string, errno: number): Error {
  return Object.assign(new Error(code), { code, errno, syscall: 'fsync' });
}

function translated(code: string): StoreError {
  const error = storeError(new Database.SqliteError('the text', code), '/a/store');
  if (!(error instanceof StoreError)) throw new Error(`${code} is not a store error`);
  return error;
}

it.each([
  ['ENOSPC', -28, 'disk_full', /fsync: the disk is full \(ENOSPC\)/],
  ['Unknown system error -122', -122, 'disk_full', /fsync: the quota is used up \(EDQUOT\)/],
  ['EMFILE', -24, 'busy', /fsync: too many open files \(EMFILE\)/],
  ['EIO', -5, 'io_failed', /fsync: the disk reported an error \(EIO\): check the disk/],
  ['EACCES', -13, 'io_failed', /fsync: permission denied \(EACCES\): check its owner and mode/],
  ['EROFS', -30, 'io_failed', /fsync: the file system is read-only \(EROFS\)/],
])('a system error such as %s (errno %i) becomes the store error %s', (code, errno, meaning, message) => {
  const error = storeError(ofSystem(code, errno), '/a/store');
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: meaning, message: expect.stringMatching(message) });
});

it('an error that is neither from SQLite nor from the system is returned unchanged', () => {
  const error = new TypeError('a bug in the program');
  expect(storeError(error, '/a/store')).toBe(error);
});

describe('a SQLite result code', () => {
  it.each([
    ['SQLITE_CORRUPT', 'damaged'],
    ['SQLITE_CORRUPT_INDEX', 'damaged'],
    ['SQLITE_NOTADB', 'damaged'],
    ['SQLITE_IOERR_CORRUPTFS', 'damaged'],
    ['SQLITE_IOERR_DATA', 'damaged'],
    ['SQLITE_IOERR_READ', 'io_failed'],
    ['SQLITE_IOERR_FSYNC', 'io_failed'],
    ['SQLITE_READONLY', 'io_failed'],
    ['SQLITE_PERM', 'io_failed'],
    ['SQLITE_ERROR', 'unexpected'],
    ['SQLITE_CONSTRAINT_UNIQUE', 'unexpected'],
    ['SQLITE_INTERNAL', 'unexpected'],
    ['SQLITE_MISMATCH', 'unexpected'],
    ['SQLITE_NOMEM', 'unexpected'],
    ['SQLITE_SCHEMA', 'unexpected'],
    ['SQLITE_A_NEW_CODE', 'unexpected'],
  ])('%s becomes the fatal store error %s', (sqlite, code) => {
    expect(translated(sqlite)).toMatchObject({ code, fatal: true, retry: false });
  });

  it.each([
    ['SQLITE_FULL', 'disk_full', true],
    ['SQLITE_BUSY_SNAPSHOT', 'busy', true],
    ['SQLITE_READONLY_CANTINIT', 'busy', true],
    ['SQLITE_CANTOPEN', 'not_a_store', false],
  ])('%s becomes the store error %s, which is not fatal', (sqlite, code, retry) => {
    expect(translated(sqlite)).toMatchObject({ code, retry, fatal: false });
  });

  it.each([
    ['SQLITE_IOERR_READ', /^\/a\/store: the text \(SQLITE_IOERR_READ\): check the disk/],
    [
      'SQLITE_ERROR',
      /^\/a\/store: the text \(SQLITE_ERROR\): start the process again; if the error recurs, run almanac labels verify/,
    ],
  ])('is followed by an instruction for the operator in the message (%s)', (sqlite, message) => {
    expect(translated(sqlite).message).toMatch(message);
  });
});

const first: Migration = { version: 1, name: 'one', sql: 'CREATE TABLE one(x)' };
const second: Migration = { version: 2, name: 'two', sql: 'ALTER TABLE one ADD COLUMN y' };
const broken: Migration = { version: 2, name: 'two', sql: 'CREATE TABLE half(x); CREATE TABLE one(x)' };

describe('migrate', () => {
  it('upgrades an old file to the newest version and records the time of each step', () => {
    const db = new Database(':memory:');
    migrate(db, [first], 'Monday');
    migrate(db, [first, second], 'Tuesday');
    migrate(db, [first, second], 'Wednesday');
    expect(schemaVersion(db)).toBe(2);
    expect(db.prepare('SELECT * FROM migration').all()).toEqual([
      { version: 1, name: 'one', applied_at: 'Monday' },
      { version: 2, name: 'two', applied_at: 'Tuesday' },
    ]);
  });

  it('leaves the file at the previous version if a step fails', () => {
    const db = new Database(':memory:');
    migrate(db, [first], 'Monday');
    expect(() => migrate(db, [first, broken], 'Tuesday')).toThrow();
    expect(schemaVersion(db)).toBe(1);
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
  });

  it('refuses a file that a newer version of the program wrote, and a file of a different application', () => {
    const newer = new Database(':memory:');
    migrate(newer, [first, second], 'Monday');
    expect(() => migrate(newer, [first], 'Tuesday')).toThrowError(expect.objectContaining({ code: 'schema_newer' }));
    const theirs = new Database(':memory:');
    theirs.pragma('user_version = 1');
    expect(() => migrate(theirs, [first], 'Monday')).toThrowError(expect.objectContaining({ code: 'not_a_store' }));
  });
});

describe('setPragma and assertPragma', () => {
  it('refuse a value that SQLite cannot apply, such as a write-ahead log in memory, and accept a value that is set', () => {
    const db = new Database(':memory:');
    expect(() => setPragma(db, 'journal_mode', 'wal')).toThrowError(
      expect.objectContaining({ code: 'pragma_refused' }),
    );
    expect(() => assertPragma(db, 'page_size', 4096)).not.toThrow();
  });
});
