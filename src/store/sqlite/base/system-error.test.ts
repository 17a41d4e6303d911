import { expect, it } from 'vitest';
import { StoreError } from '../../errors.ts';
import { storeError } from './connection.ts';

function ofSystem(code: string, errno: number): Error {
  return Object.assign(new Error(code), { code, errno, syscall: 'fsync' });
}

it.each([
  ['ENOSPC', -28, 'disk_full', /fsync: the disk is full \(ENOSPC\)/],
  ['Unknown system error -122', -122, 'disk_full', /fsync: the quota is used up \(EDQUOT\)/],
  ['EMFILE', -24, 'busy', /fsync: too many open files \(EMFILE\)/],
  ['EIO', -5, 'damaged', /fsync: the disk failed \(EIO\)/],
])('a system error, %s, becomes a store error', (code, errno, meaning, message) => {
  const error = storeError(ofSystem(code, errno), '/a/store');
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: meaning, message: expect.stringMatching(message) });
});

it('a program error stays unchanged', () => {
  const error = new TypeError('a fault of the program');
  expect(storeError(error, '/a/store')).toBe(error);
});
