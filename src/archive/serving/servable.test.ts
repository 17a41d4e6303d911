import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { writeClosedArchive } from '../../../harness/archive/closed-archive.ts';
import { simulateArchive } from '../../../harness/archive/simulated-archive.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { formatTombstones, type Tombstone } from '../days/records.ts';
import { firstEdition } from '../tables/first-edition.ts';
import { servableArchive } from './servable.ts';

const closedDay = 'days/2026-11-20';
let content: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  const archive = simulateArchive();
  await archive.run(24 * 4);
  content = archive.content;
});

/**
 * Writes the archive to a directory. Returns two functions: `write` writes another file, and `caching` opens a path and
 * resolves with null if the archive does not serve it.
 */
function directory(files = content) {
  const root = folderInTest();
  const write = (path: string, bytes: Uint8Array): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  };
  for (const [path, bytes] of files) write(path, bytes);
  const archive = servableArchive(root);
  return {
    write,
    caching: async (path: string) => {
      const file = await archive.open(path);
      if (file === null || file === 'withdrawn') return file;
      await file.handle.close();
      return file.caching;
    },
  };
}

/** Returns the record's entry of a file, as a tombstone. */
function tombstoneOf(path: string): Tombstone {
  const bytes = content.get(path) ?? Buffer.alloc(0);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { name, bytes: bytes.length, sha256, withdrawn_at: '2026-11-24T00:00:00.000Z', reason: 'a test' };
}
const labels = `${closedDay}/labels-overview.jsonl`;
const tombstones = `${closedDay}/withdrawn.json`;
const day = closedDay.slice('days/'.length);

it('a listed file must be revalidated if its day is closed, changes while its day is open, and tiles never change', async () => {
  const { caching } = directory();
  const open = [...content.keys()].find((path) => path.startsWith('days/2026-11-23/')) ?? '';
  const tile = [...content.keys()].find((path) => path.startsWith('log/tile/')) ?? '';
  const paths = [`${closedDay}/day.json`, labels, open, 'index.json', tile];
  expect(await Promise.all(paths.map(caching))).toEqual(['revalidated', 'revalidated', 'brief', 'brief', 'immutable']);
});

it('a file in the directory of a closed day is not served if the record of the day does not list it', async () => {
  const { write, caching } = directory();
  write(`${closedDay}/notes.json`, Buffer.from('{}'));
  expect(await caching(`${closedDay}/notes.json`)).toBe(null);
});

it('a table that was added to a day of the first edition is served until it is withdrawn', async () => {
  const older = new Map<string, Buffer>();
  const before = Date.parse('2026-11-21T00:00:00Z');
  writeClosedArchive({ before, days: 1, edition: firstEdition, write: (path, bytes) => void older.set(path, bytes) });
  const { write, caching } = directory(older);
  const path = `${closedDay}/labels-totals.csv`;
  write(path, Buffer.from('day,hour\n'));
  expect([await caching(path), await caching(`${closedDay}/labels-by-hour.csv`)]).toEqual([
    'revalidated',
    'revalidated',
  ]);
  write(tombstones, formatTombstones(day, [tombstoneOf(path)]));
  expect([await caching(path), await caching(`${closedDay}/labels-by-hour.csv`)]).toEqual(['withdrawn', 'revalidated']);
});

it('a withdrawn file is not served even if it exists, and the other files of its day are', async () => {
  const { write, caching } = directory();
  write(tombstones, formatTombstones(day, [tombstoneOf(labels)]));
  expect([await caching(labels), await caching(tombstones), await caching(`${closedDay}/gaps.json`)]).toEqual([
    ...['withdrawn', 'brief', 'revalidated'],
  ]);
});

it('a tombstone of the replaced content of a file does not withdraw the file', async () => {
  const { write, caching } = directory();
  write(tombstones, formatTombstones(day, [{ ...tombstoneOf(labels), sha256: '0'.repeat(64) }]));
  expect(await caching(labels)).toBe('revalidated');
});

it('no file of a closed day is served while the tombstones of the day are damaged', async () => {
  const { write, caching } = directory();
  write(tombstones, Buffer.from('{'));
  expect([await caching(labels), await caching(`${closedDay}/day.json`)]).toEqual([null, 'revalidated']);
});
