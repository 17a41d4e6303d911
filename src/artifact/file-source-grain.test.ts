import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';

/**
 * Mocks `stat` so that all files have the same times and inode, as if the clock were too coarse to distinguish two
 * writes.
 */
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const coarse = (stats: object) => Object.assign(stats, { mtimeMs: 1_000, ctimeMs: 1_000, ino: 7 });
  return {
    ...fs,
    statSync: (path: string) => coarse(fs.statSync(path)),
    fstatSync: (descriptor: number) => coarse(fs.fstatSync(descriptor)),
  };
});

// An earlier test file of the same worker may have imported the source with the real `stat`.
vi.resetModules();
const { fileSource } = await import('./file-source.ts');

function sourceAt(clock: () => number) {
  const folder = folderInTest();
  const path = join(folder, 'artifact.json');
  const recognise = (artifact: unknown) => ({ kind: 'recognised', artifact }) as const;
  return { path, source: fileSource({ path, recognise, maxBytes: 1_000, clock }) };
}

it('the file source reads a recently written file again, because a second write might not change the times of the file', async () => {
  const { path, source } = sourceAt(() => 1_100);
  for (let n = 0; n < 3; n++) {
    writeFileSync(path, `{"n":${n}}`);
    expect(source.read()).toMatchObject({ artifact: { n } });
    await nextTurn();
  }
});

it('the file source does not reread a file with unchanged times that are older than the granularity of file times', async () => {
  const { path, source } = sourceAt(() => 1_101);
  writeFileSync(path, '{"n":0}');
  const first = source.read();
  await nextTurn();
  writeFileSync(path, '{"n":1}');
  expect(source.read()).toBe(first);
});
