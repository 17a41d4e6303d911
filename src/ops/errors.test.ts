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

it('a system error is described with its code', () => {
  expect(systemWords(thrown(() => statSync('/nowhere/at/all')))).toBe('no such file or directory (ENOENT)');
});

it.each([
  ['with its own description', 'EACCES', 'permission denied (EACCES)'],
  ['that the system describes', 'EXDEV', 'cross-device link not permitted (EXDEV)'],
  ['without a description', 'EPECULIAR', 'EPECULIAR'],
  ['with the name of a property of objects', 'constructor', 'constructor'],
])('describeCode returns the description, or the code itself, for a code %s', (_what, code, words) => {
  expect(describeCode(code)).toBe(words);
});

it.each(['Unknown system error -122', 'UNKNOWN'])(
  'an exceeded quota is described even if Node reports only %s',
  (code) => {
    const error = Object.assign(new Error('write'), { code, errno: -122 });
    expect(systemCode(error)).toBe('EDQUOT');
    expect(systemWords(error)).toBe('the quota is used up (EDQUOT)');
  },
);

it.each([
  ['an error without a code', new Error('x')],
  ['a thrown text', 'x'],
])('the description of %s is the text for unknown errors', (_what, error) => {
  expect(systemWords(error)).toBe('unknown error');
});
