import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { account, fill, labelers, writerInTest } from '../../../../harness/accounts/account.ts';
import { folderInTest } from '../../../../harness/process/folder.ts';
import type { AccountFilter, AccountQuery, Observation } from '../../port.ts';
import { day, dayStart, micros } from '../../time.ts';
import { storePaths } from '../base/files.ts';
import type { SqliteWriter } from '../write/writer.ts';
import { Days } from './days.ts';

const interval = { start: dayStart(20_000), end: dayStart(20_001) };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-days-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a query over the days of an interval', () => {
  it('throws out_of_window if the floor rises during the read, so that a dropped day never counts as empty', () => {
    const days = new Days(storePaths(folder), {
      catalog: () => ({ floor: interval.start, days: [] }),
      generation: () => 'one',
      floor: () => micros(interval.start + 1),
    });
    expect(() => days.over(interval, () => 'read')).toThrowError(expect.objectContaining({ code: 'out_of_window' }));
  });

  it('retries while files are being moved, and throws damaged if a file stays missing', () => {
    let looks = 0;
    const days = new Days(storePaths(folder), {
      catalog: () => {
        looks += 1;
        return { floor: interval.start, days: looks < 3 ? [{ day: 20_000, sealed: 0, revision: 0 }] : [] };
      },
      generation: () => 'one',
      floor: () => interval.start,
    });
    expect(days.over(interval, (look) => look.days.length)).toBe(0);
    const lost = new Days(storePaths(folder), {
      catalog: () => ({ floor: interval.start, days: [{ day: 20_000, sealed: 1, revision: 0 }] }),
      generation: () => 'one',
      floor: () => interval.start,
    });
    expect(() => lost.over(interval, () => 'read')).toThrowError(expect.objectContaining({ code: 'damaged' }));
  });
});

const noon = 20_000 * day + day / 2;
const rowsADay = 12;
const days = 3;

/** Creates a store with rows of one account on three days. */
async function storeInTest(): Promise<SqliteWriter> {
  const store = writerInTest(folderInTest(), noon);
  for (let d = 0; d < days; d++) await fill(store, rowsADay, { from: d * rowsADay, at: noon + d * day });
  return store;
}

const whole = { account, start: micros(noon), end: micros(noon + days * day), order: 'oldest' } as const;

/** Reads all rows in chunks; each chunk starts where the previous one ended. */
async function follow(store: SqliteWriter, query: Omit<AccountQuery, 'after'>): Promise<Observation[]> {
  const rows: Observation[] = [];
  let after: AccountQuery['after'] = null;
  for (let chunk = 0; ; chunk++) {
    const read = await store.readAccount({ ...query, after });
    rows.push(...read.rows);
    expect(read.rows.length).toBeLessThanOrEqual(query.limit);
    if (read.next === null) return rows;
    if (after !== null) expect(read.next).toBeGreaterThan(after);
    after = read.next;
    // Every chunk must read at least one row; otherwise the reading would not end.
    expect(chunk).toBeLessThan(days * rowsADay);
  }
}

describe('readAccount with a row budget', () => {
  const filters: [string, AccountFilter][] = [
    ['every row', {}],
    ['a value', { value: 'spam' }],
    ['a labeler', { labeler: labelers[1] }],
    ['removals', { removed: true }],
    ['a value without rows', { value: 'never' }],
  ];

  it.each(filters)('returns the same rows in chunks as in one read (filter: %s)', async (_, filter) => {
    const store = await storeInTest();
    const { rows: all } = await store.readAccount({ ...whole, after: null, limit: 500, filter });
    for (const limit of [1, 3, 10]) {
      // These budgets end a chunk within a day, at the end of a day, and after the end of a day.
      for (const passes of [1, 2, 7, rowsADay - 1, rowsADay, rowsADay + 1, days * rowsADay]) {
        expect(await follow(store, { ...whole, limit, passes, filter })).toEqual(all);
      }
    }
  });

  it('reads no more rows than the budget allows, and sets next to the stamp of the last row that it read', async () => {
    const store = await storeInTest();
    const filter = { value: 'never' };
    const stampOf = (n: number): number => noon + Math.floor(n / rowsADay) * day + (n % rowsADay);
    for (const passes of [1, rowsADay, rowsADay + 1, days * rowsADay]) {
      const { rows, next } = await store.readAccount({ ...whole, after: null, limit: 10, passes, filter });
      expect([rows, next]).toEqual([[], stampOf(passes - 1)]);
    }
    const last = micros(stampOf(days * rowsADay - 1));
    expect(await store.readAccount({ ...whole, after: last, limit: 10, passes: 1, filter })).toEqual({
      rows: [],
      next: null,
    });
  });
});
