import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { makeFolder, OperatorError } from './errors.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

it('makeFolder creates a directory and its parents', () => {
  makeFolder(join(folder, 'a', 'b', 'c'));
  expect(statSync(join(folder, 'a', 'b', 'c')).isDirectory()).toBe(true);
});

it('makeFolder leaves an existing directory unchanged', () => {
  const path = join(folder, 'there');
  mkdirSync(path);
  writeFileSync(join(path, 'kept'), '');
  makeFolder(path);
  expect(existsSync(join(path, 'kept'))).toBe(true);
});

it('makeFolder accepts a symbolic link to a directory', () => {
  symlinkSync(folder, join(folder, 'link'));
  makeFolder(join(folder, 'link', 'a'));
  expect(statSync(join(folder, 'a')).isDirectory()).toBe(true);
});

it.each<[string, (path: string) => string, (path: string) => string]>([
  ['is a file', (path) => join(path, 'file'), (path) => `${join(path, 'file')} is not a directory`],
  ['is below a file', (path) => join(path, 'file', 'a', 'b'), (path) => `${join(path, 'file')} is not a directory`],
  ['has a name that is too long', (path) => join(path, 'x'.repeat(300)), () => 'the name is too long (ENAMETOOLONG)'],
  ['is a dangling symbolic link', (path) => join(path, 'loose'), () => 'a file with that name already exists (EEXIST)'],
])('makeFolder throws a one-line error with the reason if the path %s', (_what, place, why) => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'none'), join(folder, 'loose'));
  const path = place(folder);
  expect(() => makeFolder(path)).toThrow(new OperatorError(`cannot create the directory ${path}: ${why(folder)}`));
});

it.skipIf(!existsSync('/proc/self'))('makeFolder reports a file system that does not allow new directories', () => {
  expect(() => makeFolder('/proc/almanac/data')).toThrow(
    new OperatorError(
      'cannot create the directory /proc/almanac/data: the file system does not allow new directories there',
    ),
  );
});
