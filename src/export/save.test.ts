import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { saveRows } from '../../harness/export/save-rows.ts';

const manifestPath = (rows: string): string => `${rows}.manifest.json`;
let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-save-'));
  path = join(folder, 'rows.csv');
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true, force: true }));
});

/** Makes the rename of the rows fail. */
const blockRows = (): void => void mkdirSync(path);

it('an export whose file of rows cannot be renamed leaves no manifest', async () => {
  await expect(saveRows(path, blockRows)).rejects.toMatchObject({ kind: 'unwritable' });
  expect(readdirSync(folder)).toEqual(['rows.csv']);
});

it('an export whose file of rows cannot be renamed leaves the manifest of an earlier export unchanged', async () => {
  const earlier = Buffer.from([0x7b, 0xff, 0x7d]);
  writeFileSync(manifestPath(path), earlier);
  await expect(saveRows(path, blockRows)).rejects.toMatchObject({ kind: 'unwritable' });
  expect(readdirSync(folder)).toEqual(['rows.csv', 'rows.csv.manifest.json']);
  expect(readFileSync(manifestPath(path)).equals(earlier)).toBe(true);
});

it('an export replaces the rows and the manifest of an earlier export', async () => {
  writeFileSync(path, 'old');
  writeFileSync(manifestPath(path), 'old');
  await saveRows(path);
  expect(readdirSync(folder)).toEqual(['rows.csv', 'rows.csv.manifest.json']);
  for (const file of [path, manifestPath(path)]) expect(readFileSync(file, 'utf8')).not.toBe('old');
});
