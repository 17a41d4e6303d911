import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { simulateArchive } from '../../../harness/archive/simulated-archive.ts';
import { servableArchive } from './servable.ts';

const closedDay = 'days/2026-11-20';
let content: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  const archive = simulateArchive();
  await archive.run(24 * 4);
  content = archive.content;
});

/**
 * Writes the archive to a directory. Returns two functions: `write` writes another file, and `isImmutable` opens a
 * path and resolves with null if the archive does not serve it.
 */
function directory() {
  const root = mkdtempSync(join(tmpdir(), 'almanac-servable-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, bytes: Uint8Array): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  };
  for (const [path, bytes] of content) write(path, bytes);
  const archive = servableArchive(root);
  return {
    write,
    isImmutable: async (path: string) => {
      const file = await archive.open(path);
      await file?.handle.close();
      return file?.isImmutable ?? null;
    },
  };
}

it('a listed file is served as immutable if its day is closed, and as mutable while its day is open', async () => {
  const { isImmutable } = directory();
  const open = [...content.keys()].find((path) => path.startsWith('days/2026-11-23/')) ?? '';
  expect([await isImmutable(`${closedDay}/day.json`), await isImmutable(open)]).toEqual([true, false]);
});

it('a file in the directory of a closed day is not served if the record of the day does not list it', async () => {
  const { write, isImmutable } = directory();
  write(`${closedDay}/notes.json`, Buffer.from('{}'));
  expect(await isImmutable(`${closedDay}/notes.json`)).toBe(null);
});
