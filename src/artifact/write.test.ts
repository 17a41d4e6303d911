import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeArtifact } from './write.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-write-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('the artifact writer replaces the artifact and leaves no other file behind', async () => {
  const path = join(folder, 'artifact.json');
  await writeArtifact(path, { n: 1 });
  await writeArtifact(path, { n: 2 });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ n: 2 });
  expect(readdirSync(folder)).toEqual(['artifact.json']);
});

it('a reader that has opened the old artifact can read it to its end', async () => {
  const path = join(folder, 'artifact.json');
  await writeArtifact(path, { n: 1 });
  const reader = openSync(path, 'r');
  try {
    await writeArtifact(path, { n: 2, longer: true });
    expect(JSON.parse(readFileSync(reader, 'utf8'))).toEqual({ n: 1 });
  } finally {
    closeSync(reader);
  }
});

it('a failed write leaves the old artifact in place and no other file behind', async () => {
  const path = join(folder, 'artifact.json');
  await writeArtifact(path, { n: 1 });
  const unwritable = { toJSON: () => JSON.parse('{') as never };
  await expect(writeArtifact(path, unwritable)).rejects.toThrow(SyntaxError);
  await expect(writeArtifact(join(folder, 'no', 'artifact.json'), {})).rejects.toMatchObject({ code: 'ENOENT' });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ n: 1 });
  expect(readdirSync(folder)).toEqual(['artifact.json']);
});
