import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileSource } from './file-source.ts';
import type { Reading, Recognised } from './reading.ts';
import { writeArtifact } from './write.ts';

const recognise = (value: unknown): Recognised<unknown> => ({ kind: 'recognised', artifact: value });

let folder = '';
let path = '';
let seen: Reading<unknown>[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-file-'));
  path = join(folder, 'artifact.json');
  seen = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function source(maxBytes = 1000) {
  return fileSource({ path, recognise, maxBytes, clock: Date.now, observe: (reading) => seen.push(reading) });
}

function replace(text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

it('the file source reports each appearance, change or disappearance of the artifact once', async () => {
  const artifact = source();
  expect(artifact.read()).toEqual({ kind: 'missing', why: 'the file does not exist' });
  await nextTurn();
  replace('{"n":1}');
  expect(artifact.read()).toMatchObject({ kind: 'readable', artifact: { n: 1 } });
  await nextTurn();
  const again = artifact.read();
  expect(again).toBe(artifact.read());
  await nextTurn();
  replace('{"n":2}');
  expect(artifact.read()).toMatchObject({ artifact: { n: 2 } });
  await nextTurn();
  rmSync(path);
  expect(artifact.read().kind).toBe('missing');
  expect(seen.map(({ kind }) => kind)).toEqual(['missing', 'readable', 'readable', 'missing']);
});

it('the file source checks the file at most once per turn of the event loop, and again in each later turn', async () => {
  const artifact = source();
  artifact.read();
  replace('{"n":1}');
  expect(artifact.read().kind).toBe('missing');
  await nextTurn();
  expect(artifact.read().kind).toBe('readable');
});

it('the file source detects changes in quick succession, even if the length stays the same', async () => {
  const artifact = source();
  for (let n = 0; n < 10; n++) {
    writeFileSync(path, `{"n":${n}}`);
    expect(artifact.read()).toMatchObject({ artifact: { n } });
    await nextTurn();
  }
});

it('the file source reads a file that is renamed into place with the same size and modification time', async () => {
  const at = new Date(Date.now() - 60_000);
  const settled = fileSource({ path, recognise, maxBytes: 1000, clock: () => Date.now() + 60_000 });
  const put = (text: string): void => {
    writeFileSync(`${path}.new`, text);
    utimesSync(`${path}.new`, at, at);
    renameSync(`${path}.new`, path);
  };
  put('{"n":1}');
  expect(settled.read()).toMatchObject({ artifact: { n: 1 } });
  await nextTurn();
  put('{"n":2}');
  expect(settled.read()).toMatchObject({ artifact: { n: 2 } });
});

it('the file source returns the same reading object for the same bytes and modification time', async () => {
  writeFileSync(path, '{"n":1}');
  const at = new Date(Date.now() - 60_000);
  utimesSync(path, at, at);
  const artifact = source();
  const first = artifact.read();
  await nextTurn();
  expect(artifact.read()).toBe(first);
  expect(first).toMatchObject({ modifiedAt: at.getTime() });
});

it('a file of the maximum size is readable, and a larger file is unreadable', async () => {
  const artifact = source(7);
  replace('{"n":1}');
  expect(artifact.read().kind).toBe('readable');
  await nextTurn();
  replace('{"n":12}');
  expect(artifact.read()).toEqual({ kind: 'unreadable', why: 'the artifact is larger than 7 bytes' });
});

it('an artifact whose path is too long or is not a regular file is unreadable, and reading it does not block', () => {
  mkdirSync(path);
  expect(source().read()).toEqual({ kind: 'unreadable', why: 'the artifact is not a regular file' });
  rmSync(path, { recursive: true });
  execFileSync('mkfifo', [path]);
  expect(source().read()).toEqual({ kind: 'unreadable', why: 'the artifact is not a regular file' });
  path = join(folder, 'x'.repeat(300));
  expect(source().read()).toEqual({
    kind: 'unreadable',
    why: 'the artifact cannot be read: the name is too long (ENAMETOOLONG)',
  });
});

it('the artifact is missing if a regular file exists at the path of its directory', () => {
  writeFileSync(path, '{}');
  path = join(path, 'artifact.json');
  expect(source().read()).toEqual({ kind: 'missing', why: 'the file does not exist' });
});

it('the file source reads an artifact that the atomic writer wrote', async () => {
  await writeArtifact(path, { n: 1 });
  expect(source().read()).toMatchObject({ kind: 'readable', artifact: { n: 1 } });
});
