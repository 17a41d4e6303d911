import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { labelers, labelNumber, noon, observationOf, subjects } from '../../harness/conformance/labels.ts';
import { StoreModel } from '../../harness/conformance/model.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { changeFile } from '../../harness/store/earlier-store.ts';
import type { Batch } from '../../src/store/port.ts';
import { storePaths } from '../../src/store/sqlite/base/files.ts';
import { type SubjectKey, subjectDid, subjectKey } from '../../src/store/sqlite/base/row.ts';
import { DayReader } from '../../src/store/sqlite/day/day-reader.ts';
import { accountGroups } from '../../src/store/sqlite/read/account-tally.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { hotRows } from '../../src/store/sqlite/schema/day-schema.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, dayStart, micros } from '../../src/store/time.ts';

const openDay = '2024-10-04.open.sqlite';
/** Accounts of the test. The DID of the last account is too long for stored counts. */
const accounts = [...subjects, `did:web:${'a'.repeat(200)}.example`];
const account = fc.constantFrom(...accounts);
const rows = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 400 }));

/**
 * Generates an event of a day: a commit of rows, a rollback of rows with their counts, or a restart of the writer.
 */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), account, rows }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), account, rows }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

it('the stored counts of an account in an open day include all of its rows after restarts and failed commits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 16 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      holds,
    ),
    { numRuns: 60 },
  );
});

it('an account with very many groups from a hostile labeler is counted within the budget', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-busy-'));
  const store = openSqliteWriter({ folder, at: micros(noon - day) });
  try {
    const [account = ''] = subjects;
    for (let first = 0; first < 6_000; first += 1_500) {
      await store.append(batchOfValues(account, first, 1_500));
    }
    const asked = { account, start: dayStart(20_000), end: dayStart(20_001) };
    const rowsWithin = async (budget: number) => (await store.tallyAccount({ ...asked, budget })).days[0]?.counts?.rows;
    expect(await rowsWithin(5_999)).toBeUndefined();
    expect(await rowsWithin(6_000)).toBe(6_000);
    expect(await problems(store)).toEqual([]);
    await store.append({ ...batchOf(account, 7_000, 1), at: micros(noon + 6 * day) });
    expect((await store.maintain(micros(noon + 6 * day))).sealed).toHaveLength(1);
    expect([await rowsWithin(5_999), await rowsWithin(6_000)]).toEqual([undefined, 6_000]);
    expect(await store.busyAccounts(9)).toEqual([]);
    expect(await problems(store)).toEqual([]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

it('an open day of an earlier version contains the counts of an account once a new writer has added enough rows, and readers that have opened the day use these counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-busy-'));
  const [account = ''] = subjects;
  let store = openSqliteWriter({ folder, at: micros(noon - day) });
  try {
    for (let n = 0; n < 4; n++) await store.append(batchOf(account, 1_500 * n, 1_500));
    await store.close();
    toVersion2(folder);
    store = openSqliteWriter({ folder, at: noon });
    const reader = openSqliteReader(folder);
    const asked = { account, start: dayStart(20_000), end: dayStart(20_001) };
    const rows = async (budget: number) => (await reader.tallyAccount({ ...asked, budget })).days[0]?.counts?.rows;
    expect([await rows(5_999), await rows(6_000)]).toEqual([undefined, 6_000]);
    await store.append(batchOf(account, 6_000, hotRows - 1));
    expect(await rows(1)).toBeUndefined();
    await store.append(batchOf(account, 7_000, 1));
    expect(await rows(1)).toBe(6_000 + hotRows);
    expect(await problems(store)).toEqual([]);
    await reader.close();
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

it('counts of an account that do not fit into one commit are stored later, even if the account has more rows than a commit usually counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-busy-'));
  const store = openSqliteWriter({ folder, at: micros(noon - day) });
  const [late = ''] = subjects;
  let label = 0;
  const append = async (wanted: readonly (readonly [account: string, rows: number])[]): Promise<void> => {
    const observations = wanted.flatMap(([account, rows]) => batchOf(account, label, rows).observations);
    label += observations.length;
    await store.append({ at: noon, observations, refusals: [], positions: [] });
  };
  try {
    for (let round = 0; round < 3; round++) {
      // Each of these accounts is one row below the threshold. Together, they use up most of the rows that one commit
      // may read to create counts.
      const others = Array.from({ length: 62 }, (_, i) => `did:web:${round}-${i}.example`);
      for (const half of [others.slice(0, 31), others.slice(31)]) {
        await append(half.map((account) => [account, hotRows - 1]));
      }
      await append([...others.map((account) => [account, 1] as const), [late, 1_938]]);
      expect(keptIn(folder)).toEqual(expect.arrayContaining(others));
      expect(keptIn(folder)).not.toContain(late);
    }
    await append([[late, 1]]);
    expect(keptIn(folder)).toContain(late);
    expect(await problems(store)).toEqual([]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

it('a day of an earlier version stores no counts for an account that has too many groups to read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-busy-'));
  const [account = ''] = subjects;
  let store = openSqliteWriter({ folder, at: micros(noon - day) });
  const append = (first: number, rows: number) => store.append(batchOfValues(account, first, rows));
  try {
    for (let first = 0; first < 6_000; first += 1_500) await append(first, 1_500);
    await store.close();
    toVersion2(folder);
    store = openSqliteWriter({ folder, at: noon });
    await append(6_000, 2 * hotRows);
    expect(keptIn(folder)).toEqual([]);
    expect(await problems(store)).toEqual([]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

it('rows that are accepted between reading the stored counts and reading the rows are not counted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-busy-'));
  const [account = ''] = subjects;
  const store = openSqliteWriter({ folder, at: micros(noon - day) });
  await store.append(batchOf(account, 0, 100));
  const file = new DayReader(join(storePaths(folder).days, openDay), 20_000, 'open');
  try {
    const look = file.hotCounts.groupsOf.bind(file.hotCounts);
    const coming: Promise<unknown>[] = [];
    vi.spyOn(file.hotCounts, 'groupsOf').mockImplementation((key) => {
      const groups = look(key);
      coming.push(store.append(batchOf(account, 1_000, 100)));
      return groups;
    });
    const until = { start: dayStart(20_000), end: noon + 100 };
    const found = accountGroups(file, subjectKey(account), until, 1_000);
    await Promise.all(coming);
    expect(coming).toHaveLength(1);
    expect(found?.groups.reduce((sum, [, , , applied, removed]) => sum + applied + removed, 0)).toBe(100);
  } finally {
    file.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
});

async function holds(steps: readonly Step[], share: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-busy-'));
  const model = new StoreModel();
  const sinceStart = new Map<string, number>();
  let failing = false;
  const open = () =>
    openSqliteWriter({
      folder,
      at: micros(noon - day),
      faults: (point) => {
        if (failing && point === 'append.positions') throw new Error('cut short');
      },
    });
  let store = open();
  let label = 0;
  try {
    for (const step of steps) {
      if (step.kind === 'restart') {
        await store.close();
        sinceStart.clear();
        store = open();
        continue;
      }
      const { account, rows } = step;
      const asked = batchOf(account, label, rows);
      label += rows;
      if (step.kind === 'fail') {
        failing = true;
        await expect(store.append(asked)).rejects.toThrow('cut short');
        failing = false;
        continue;
      }
      expect(await store.append(asked)).toEqual(model.append(asked));
      sinceStart.set(account, (sinceStart.get(account) ?? 0) + rows);
    }
    const between = model.rows[Math.floor(share * (model.rows.length - 1))]?.observedAt ?? noon;
    const intervals = [
      { start: dayStart(20_000), end: dayStart(20_001) },
      { start: dayStart(20_000), end: micros(between + 1) },
      { start: between, end: dayStart(20_001) },
    ];
    for (const account of accounts) {
      for (const interval of intervals) {
        for (const filter of [{}, { labeler: labelers[0] ?? '' }, { value: 'spam', removed: false }]) {
          const tally = await store.tallyAccount({ account, ...interval, filter, budget: 1e6 });
          expect(tally).toEqual(model.tally(account, interval, filter));
        }
      }
    }
    expect(await problems(store)).toEqual([]);
    if (model.rows.length > 0) expect(keptIn(folder)).not.toContain(accounts.at(-1));
    const many = [...sinceStart].filter(([account, rows]) => rows >= hotRows && account.length <= 128);
    if (many.length > 0) expect(keptIn(folder)).toEqual(expect.arrayContaining(many.map(([account]) => account)));
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

/** Returns labels of all kinds for one account, with consecutive numbers. */
function batchOf(account: string, first: number, rows: number): Batch {
  const observations = Array.from({ length: rows }, (_, i) => {
    const n = first + i;
    const uri = [account, `at://${account}/app.bsky.feed.post/${n}`, `at://${account}/a.b.c/d`][n % 3] ?? '';
    return observationOf(labelNumber(n, { uri }));
  });
  return { at: noon, observations, refusals: [], positions: [] };
}

/** Returns labels for one account, each with a different value. */
function batchOfValues(account: string, first: number, rows: number): Batch {
  const observations = Array.from({ length: rows }, (_, i) =>
    observationOf(labelNumber(first + i, { uri: account, val: `value-${first + i}` })),
  );
  return { at: noon, observations, refusals: [], positions: [] };
}

/** Converts the open day to the format of a version without stored counts. */
function toVersion2(folder: string): void {
  changeFile(
    join(storePaths(folder).days, openDay),
    'DROP TABLE counter_labeler; DROP TABLE refused_rows; DROP TABLE busy; DELETE FROM migration WHERE version > 2; PRAGMA user_version = 2',
  );
}

function keptIn(folder: string): string[] {
  const db = new Database(join(storePaths(folder).days, openDay), { readonly: true });
  try {
    return db.prepare<[], SubjectKey>('SELECT DISTINCT subject FROM busy').pluck().all().map(subjectDid);
  } finally {
    db.close();
  }
}
