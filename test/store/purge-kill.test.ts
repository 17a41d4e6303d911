import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { batch, problems } from '../../harness/conformance/suite.ts';
import { startScript } from '../../harness/process/script.ts';
import { fillForPurge, hostile, hostileRows, otherRows, requestedAt } from '../../harness/store/purge-store.ts';
import type { FileEvent } from '../../src/store/sqlite/base/files.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, dayStart, micros } from '../../src/store/time.ts';

const other = labelers[1] ?? '';

let filled: string;
beforeAll(async () => {
  filled = await mkdtemp(join(tmpdir(), 'almanac-purge-'));
  const store = openSqliteWriter({ folder: filled, at: noon });
  await fillForPurge(store);
  await store.close();
});
afterAll(() => rm(filled, { recursive: true, force: true }));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-purge-'));
  await cp(filled, folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/**
 * Purges the labeler's rows in a separate process. The process kills itself at the fault point `fault`, unless that is
 * empty.
 */
function purge(fault = ''): Promise<number | string> {
  return startScript('store/killed-store.ts', ['purge', folder, `${requestedAt}`, fault, hostile]).ended;
}

/** Returns the numbers of rows of the purged labeler and of the other labelers, by day. */
async function rowsByDay(): Promise<[sealed: boolean, hostile: number, other: number][]> {
  // Open the store with a writer, which completes the work that the killed run left unfinished.
  await openSqliteWriter({ folder, at: requestedAt }).close();
  const store = openSqliteReader(folder);
  try {
    expect(await problems(store)).toEqual([]);
    const found: [boolean, number, number][] = [];
    for await (const { sealed } of store.verify()) {
      const at = dayStart(20_000 + found.length);
      const counts = await store.countsByLabeler({ start: micros(Math.max(at, noon)), end: micros(at + day) });
      const rows = new Map(counts.map(({ labeler, applied, removed }) => [labeler, applied + removed]));
      found.push([sealed, rows.get(hostile) ?? 0, rows.get(other) ?? 0]);
    }
    return found;
  } finally {
    await store.close();
  }
}

const points = [
  'purge.begun:1',
  'purge.written:1',
  'purge.renamed:1',
  'purge.recorded:1',
  'purge.renamed:2',
  'purge.begun:3',
  'purge.removed:1',
  'purge.removed:3',
  'purge.emptied:1',
  'purge.recorded:3',
  'purge.emptied:3',
];

describe('a purge in another process', () => {
  it.each(points)(
    'leaves complete sealed days, counters that match the rows, and a purge that can be resumed (kill at %s)',
    async (fault) => {
      const before = await rowsByDay();
      expect(before).toEqual([true, true, false, false, false].map((sealed) => [sealed, hostileRows, otherRows]));
      expect(await purge(fault)).toBe('SIGKILL');
      const after = await rowsByDay();
      for (const [sealed, rows, others] of after) {
        expect(others).toBe(otherRows);
        // The rows of an open day are removed in several commits, so a kill can leave some of these rows.
        if (sealed) expect([0, hostileRows]).toContain(rows);
        else expect([0, 200, 700, hostileRows]).toContain(rows);
      }
      expect(await purge()).toBe(0);
      expect(await rowsByDay()).toEqual(before.map(([sealed, , others]) => [sealed, 0, others]));
      const store = openSqliteReader(folder);
      const [progress] = await store.purges();
      expect(progress).toMatchObject({ source: hostile, completedAt: requestedAt, daysLeft: 0 });
      expect(progress?.rows).toBeGreaterThan(0);
      expect(progress?.rows).toBeLessThanOrEqual(5 * hostileRows);
      await store.close();
    },
  );

  it('is visible to a reader after a kill and the next start, even if the reader had opened the old files', async () => {
    const reader = openSqliteReader(folder);
    const counts = () => reader.countsByLabeler({ start: noon, end: micros(noon + 5 * day) });
    const of = async (did: string) => (await counts()).find(({ labeler }) => labeler === did);
    expect(await of(hostile)).toMatchObject({ labeler: hostile });
    expect(await purge('purge.renamed:2')).toBe('SIGKILL');
    expect(await purge()).toBe(0);
    expect(await of(hostile)).toBeUndefined();
    expect(await of(other)).toMatchObject({ labeler: other });
    await reader.close();
  });

  it('removes from sealed days the values that only the purged labeler used', async () => {
    expect(await purge()).toBe(0);
    const days = join(folder, 'days');
    const sealed = (await readdir(days)).filter((name) => name.endsWith('.sealed.sqlite'));
    expect(sealed).toHaveLength(2);
    for (const name of sealed) {
      const bytes = await readFile(join(days, name));
      expect([bytes.includes('insult'), bytes.includes('spam')]).toEqual([false, true]);
    }
  });
});

describe('a seal of a purged day in another process', () => {
  it.each(['seal.renamed', 'seal.recorded'])(
    'is completed by the next start, which removes the open file (kill at %s)',
    async (fault) => {
      expect(await purge()).toBe(0);
      const later = micros(noon + 8 * day);
      const store = openSqliteWriter({ folder, at: later });
      await store.append(batch(later, [1_000_001]));
      await store.close();
      expect(await startScript('store/killed-store.ts', ['maintain', folder, `${later}`, fault]).ended).toBe('SIGKILL');
      const events: FileEvent[] = [];
      await openSqliteWriter({ folder, at: later, onFile: (event) => events.push(event) }).close();
      expect(events).toEqual([
        {
          name: '2024-10-06.open.sqlite',
          day: '2024-10-06',
          action: 'removed',
          reason: 'the sealed file contains the same rows',
        },
      ]);
      expect((await rowsByDay()).slice(0, 4)).toEqual(
        [true, true, true, false].map((sealed) => [sealed, 0, otherRows]),
      );
    },
  );
});
