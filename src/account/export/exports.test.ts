import { describe, expect, it, test } from 'vitest';
import { account, fill, labelNo, writerInTest } from '../../../harness/accounts/account.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import type { AccountRow } from '../../contract/account.ts';
import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Frontier } from '../../store/port.ts';
import { day, micros } from '../../store/time.ts';
import { markOf, type Progress, type Snapshot } from '../cursor/cursor.ts';
import type { AccountStore } from '../query/account-store.ts';
import { takeSnapshot } from './exports.ts';
import { begin, type ReadRows, type RowsQuery, readExport, whyGone } from './rows.ts';

const createdAt = 20_000 * 86_400_000 + 43_200_000;
const bounds = { maxExportRows: 1_000, pageRows: 2, ttlMs: 60_000 };
const rows = 100;

/** Creates a store in which an account has half a day of rows, and takes a snapshot of the account. */
async function snapshotWith(filters: Snapshot['filters'] = {}) {
  const store = writerInTest(folderInTest(), microsFromMillis(createdAt) - day / 2);
  await fill(store, rows, { at: microsFromMillis(createdAt) - day / 4 });
  const query = { account, asked: { kind: 'days' as const, days: 7 as const }, filters };
  const taken = await takeSnapshot(store, query, createdAt, bounds);
  if (taken.kind !== 'taken') throw new Error(taken.kind);
  return { store, snapshot: taken.snapshot };
}

const written = { text: '{}', digest: Buffer.alloc(32) };

function asked(snapshot: Snapshot, from: Progress, limit: number): RowsQuery {
  return { snapshot, from, limit, now: null };
}

function rowsOf({ rows }: ReadRows): readonly unknown[] {
  return JSON.parse(`[${Buffer.from(rows).toString()}]`) as unknown[];
}

test('an export continues after pages without a matching row, and returns every matching row once', async () => {
  const { store, snapshot } = await snapshotWith({ value: 'value-99' });
  let progress = begin(written);
  const pages: (readonly unknown[])[] = [];
  for (let terminal = false; !terminal; ) {
    const read: Awaited<ReturnType<typeof readExport>> = await readExport(store, asked(snapshot, progress, 2));
    if (read.kind !== 'read') throw new Error(read.kind);
    if (!read.terminal) expect(read.progress.position).toBeGreaterThan(progress.position ?? 0);
    ({ progress, terminal } = read satisfies ReadRows);
    pages.push(rowsOf(read));
  }
  // Each page reads at most 32 rows.
  expect(pages.map((page) => page.length)).toEqual([0, 0, 0, 1]);
  expect(progress.count).toBe(1);
  expect(progress.digest).not.toEqual(written.digest);
});

test('the row count on the last page of an export includes the rows of all pages', async () => {
  const { store, snapshot } = await snapshotWith();
  let progress = begin(written);
  for (let terminal = false; !terminal; ) {
    const read: Awaited<ReturnType<typeof readExport>> = await readExport(store, asked(snapshot, progress, 30));
    if (read.kind !== 'read') throw new Error(read.kind);
    ({ progress, terminal } = read);
  }
  expect(progress.count).toBe(rows);
});

test('an export page ends with the row that reaches 512 KiB, and the next page continues after it', async () => {
  const store = writerInTest(folderInTest(), microsFromMillis(createdAt) - day / 2);
  const exp = 'x'.repeat(14_000);
  const observations = Array.from({ length: 40 }, (_, n) => ({
    label: { ...labelNo(n), uri: account, exp },
    signature: 'unverified' as const,
  }));
  await store.append({ at: micros(microsFromMillis(createdAt) - day / 4), observations, refusals: [], positions: [] });
  const query = { account, asked: { kind: 'days' as const, days: 7 as const }, filters: {} };
  const taken = await takeSnapshot(store, query, createdAt, bounds);
  if (taken.kind !== 'taken') throw new Error(taken.kind);
  const first = await readExport(store, asked(taken.snapshot, begin(written), 500));
  if (first.kind !== 'read') throw new Error(first.kind);
  const second = await readExport(store, asked(taken.snapshot, first.progress, 500));
  if (second.kind !== 'read') throw new Error(second.kind);
  expect([first, second].map(({ terminal, progress }) => [terminal, progress.count])).toEqual([
    [false, 37],
    [true, 40],
  ]);
  const values = [...rowsOf(first), ...rowsOf(second)].map((row) => (row as AccountRow).value);
  expect(values).toEqual(observations.map(({ label }) => label.val));
});

test('an export excludes rows accepted after its creation', async () => {
  const { store, snapshot } = await snapshotWith();
  expect(snapshot.frontier).toBe((await store.frontier()).end);
  const label = labelNo(1_000);
  const at = micros(snapshot.frontier);
  await store.append({ at, observations: [{ label, signature: 'unverified' }], refusals: [], positions: [] });
  const read = await readExport(store, asked(snapshot, begin(written), 500));
  expect(read).toMatchObject({ kind: 'read', terminal: true, progress: { count: rows } });
});

test('an export cannot be continued after it has expired', async () => {
  const { store, snapshot } = await snapshotWith();
  expect(await whyGone(store, snapshot, createdAt + bounds.ttlMs - 1)).toBeNull();
  expect(await whyGone(store, snapshot, createdAt + bounds.ttlMs)).toEqual({
    kind: 'refused',
    code: 'snapshot_expired',
  });
});

test('an export page is refused if rows were purged while it was read', async () => {
  const { store, snapshot } = await snapshotWith();
  const [source] = [labelNo(0).src];
  const removing = {
    ...store,
    readAccount: async (asked: Parameters<typeof store.readAccount>[0]) => {
      await store.requestPurge({ source, at: microsFromMillis(createdAt) });
      const read = await store.readAccount(asked);
      while (await store.purge(microsFromMillis(createdAt)));
      return read;
    },
  };
  expect(await readExport(removing, asked(snapshot, begin(written), 500))).toMatchObject({ code: 'snapshot_expired' });
});

const primary: Frontier = { generationId: 'g', floor: micros(0), end: micros(10), observedThrough: null, revision: 3 };
const standby: Frontier = { ...primary, replicatedThrough: micros(500) };
const behind = expect.objectContaining({ code: 'behind' });

describe('a snapshot that is continued on a standby', () => {
  const snapshot = (end: number, revision: number, generationId = 'g') =>
    ({ end: micros(end), generation: markOf({ generationId, revision }), expiresAt: createdAt + 1 }) as Snapshot;
  const goneOn = (frontier: Frontier, one: Snapshot) =>
    whyGone({ frontier: () => Promise.resolve(frontier) } as AccountStore, one, createdAt);
  const refused = { kind: 'refused', code: 'snapshot_expired' };

  it('is refused as behind if the standby has not received all rows before the end of the snapshot', async () => {
    expect(await goneOn(standby, snapshot(500, 3))).toBeNull();
    await expect(goneOn(standby, snapshot(501, 3))).rejects.toThrow(behind);
    expect(await goneOn(primary, snapshot(501, 3))).toBeNull();
  });

  it('is refused as behind if the standby has not received a removal of rows that the snapshot includes, unless the snapshot is of a different store', async () => {
    await expect(goneOn(standby, snapshot(500, 5))).rejects.toThrow(behind);
    expect(await goneOn(standby, snapshot(500, 2))).toEqual(refused);
    expect(await goneOn(standby, snapshot(500, 5, 'another'))).toEqual(refused);
  });
});
