import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../errors.ts';
import { storeError } from './store-error.ts';

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
