import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codeInWords, systemCode, systemWords } from './errors.ts';

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

it('describes a system error in words, with its code', () => {
  expect(systemWords(thrown(() => statSync('/nowhere/at/all')))).toBe('no such file or directory (ENOENT)');
});

it.each([
  ['a code of ours', 'EACCES', 'permission denied (EACCES)'],
  ['one that the system has words for', 'EXDEV', 'cross-device link not permitted (EXDEV)'],
  ['one without a description', 'EPECULIAR', 'EPECULIAR'],
  ['the name of a property of objects', 'constructor', 'constructor'],
])('knows %s', (_what, code, words) => {
  expect(codeInWords(code)).toBe(words);
});

it.each(['Unknown system error -122', 'UNKNOWN'])('names a used-up quota, for which Node has %s', (code) => {
  const error = Object.assign(new Error('write'), { code, errno: -122 });
  expect(systemCode(error)).toBe('EDQUOT');
  expect(systemWords(error)).toBe('the quota is used up (EDQUOT)');
});

it.each([
  ['an error without a code', new Error('x')],
  ['no error at all', 'x'],
])('invents no words for %s', (_what, error) => {
  expect(systemWords(error)).toBe('unknown error');
});
