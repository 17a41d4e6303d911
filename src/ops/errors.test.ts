import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeCode, systemCode, systemWords } from './errors.ts';

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

it('describes a system error with its code', () => {
  expect(systemWords(thrown(() => statSync('/nowhere/at/all')))).toBe('no such file or directory (ENOENT)');
});

it.each([
  ['a code of ours', 'EACCES', 'permission denied (EACCES)'],
  ['one that the system has words for', 'EXDEV', 'cross-device link not permitted (EXDEV)'],
  ['one without a description', 'EPECULIAR', 'EPECULIAR'],
  ['the name of a property of objects', 'constructor', 'constructor'],
])('describes %s', (_what, code, words) => {
  expect(describeCode(code)).toBe(words);
});

it.each(['Unknown system error -122', 'UNKNOWN'])('describes an exceeded quota, for which Node has %s', (code) => {
  const error = Object.assign(new Error('write'), { code, errno: -122 });
  expect(systemCode(error)).toBe('EDQUOT');
  expect(systemWords(error)).toBe('the quota is used up (EDQUOT)');
});

it.each([
  ['an error without a code', new Error('x')],
  ['no error at all', 'x'],
])('returns %s without a description', (_what, error) => {
  expect(systemWords(error)).toBe('unknown error');
});
