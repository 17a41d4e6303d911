import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { describeCode, makeFolder, OperatorError, systemCode, systemWords } from './errors.ts';

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

describe('makeFolder', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-folder-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
  });

  it('creates a directory and its parents', () => {
    makeFolder(join(folder, 'a', 'b', 'c'));
    expect(statSync(join(folder, 'a', 'b', 'c')).isDirectory()).toBe(true);
  });

  it('leaves an existing directory unchanged', () => {
    const path = join(folder, 'there');
    mkdirSync(path);
    writeFileSync(join(path, 'kept'), '');
    makeFolder(path);
    expect(existsSync(join(path, 'kept'))).toBe(true);
  });

  it('accepts a symbolic link to a directory', () => {
    symlinkSync(folder, join(folder, 'link'));
    makeFolder(join(folder, 'link', 'a'));
    expect(statSync(join(folder, 'a')).isDirectory()).toBe(true);
  });

  it.each<[string, (path: string) => string, (path: string) => string]>([
    ['is a file', (path) => join(path, 'file'), (path) => `${join(path, 'file')} is not a directory`],
    ['is below a file', (path) => join(path, 'file', 'a', 'b'), (path) => `${join(path, 'file')} is not a directory`],
    ['has a name that is too long', (path) => join(path, 'x'.repeat(300)), () => 'the name is too long (ENAMETOOLONG)'],
    [
      'is a dangling symbolic link',
      (path) => join(path, 'loose'),
      () => 'a file with that name already exists (EEXIST)',
    ],
  ])('throws a one-line error with the reason if the path %s', (_what, place, why) => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'none'), join(folder, 'loose'));
    const path = place(folder);
    expect(() => makeFolder(path)).toThrow(new OperatorError(`cannot create the directory ${path}: ${why(folder)}`));
  });

  it.skipIf(!existsSync('/proc/self'))('reports a file system that does not allow new directories', () => {
    expect(() => makeFolder('/proc/almanac/data')).toThrow(
      new OperatorError(
        'cannot create the directory /proc/almanac/data: the file system does not allow new directories there',
      ),
    );
  });
});
