import { expect, it } from 'vitest';
import { storeFault } from './store-faults.ts';

const errorWith = (code: string): Error => Object.assign(new Error('a failed statement'), { code });

it.each([
  ['SQLITE_CORRUPT_VTAB', 'damaged'],
  ['SQLITE_NOTADB', 'damaged'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED_SHAREDCACHE', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_IOERR_WRITE', 'full'],
  ['SQLITE_READONLY', 'full'],
  ['SQLITE_ERROR', 'unexpected'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unexpected'],
  ['ENOSPC', null],
])('an error with the code %s is judged %s', (code, fault) => {
  expect(storeFault(errorWith(code))).toBe(fault);
});
