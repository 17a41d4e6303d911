import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeCode, systemCode, systemWords } from './errors.ts';

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('no error was thrown');
}

it('a system error is described with its code', () => {
  expect(systemWords(thrown(() => statSync('/nowhere/at/all')))).toBe('no such file or directory (ENOENT)');
});

it.each([
  ['with its own description', 'EACCES', 'permission denied (EACCES)'],
  ['that concerns a path', 'EISDIR', 'the path is a directory (EISDIR)'],
  ['that the system describes', 'EXDEV', 'cross-device link not permitted (EXDEV)'],
  ['without a description', 'EPECULIAR', 'EPECULIAR'],
  ['that is also the name of an object property', 'constructor', 'constructor'],
])('for a code %s (%s), describeCode returns "%s"', (_what, code, words) => {
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
  ['a thrown string', 'x'],
])('the description of %s is "unknown error"', (_what, error) => {
  expect(systemWords(error)).toBe('unknown error');
});
