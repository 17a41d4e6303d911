import { describe, expect, it } from 'vitest';
import { labelers, labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { StoreModel } from '../../../harness/conformance/model.ts';
import { around, batch, collect, kinds, later, problems, useStore } from '../../../harness/conformance/suite.ts';
import { scanAccount } from '../../../harness/store/scan.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import type { AccountFilter } from '../../../src/store/port.ts';
import { day, dayStart, type Interval, micros } from '../../../src/store/time.ts';

const [alice = '', bob = '', carol = ''] = subjects;
const [mod = '', other = ''] = labelers;
const filters: AccountFilter[] = [
  {},
  { labeler: mod },
  { value: 'spam', removed: true },
  { target: 'post', removed: false },
];

describe.each(kinds)('in a $name store,', (kind) => {
  const on = useStore(kind);

  describe('the rows of an account', () => {
    it('include labels on the account and on its records, and no labels on another account', async () => {
      const uris = [alice, `at://${alice}/app.bsky.feed.post/3l`, `at://${alice}`, bob, `at://${bob}/a.b.c/${alice}`];
      const observations = uris.map((uri, i) => observationOf(labelNumber(i, { uri })));
      await on.store.append({ ...batch(noon, []), observations });
      const chunk = await on.store.readAccount({
        account: alice,
        ...around(noon),
        order: 'oldest',
        after: null,
        limit: 500,
      });
      expect(chunk.rows.map((row) => row.label.uri)).toEqual(uris.slice(0, 3));
      expect(chunk.next).toBeNull();
    });

    it('are refused for an interval that begins before the floor, even by a microsecond', async () => {
      const query = { account: alice, order: 'oldest', after: null, limit: 1, end: later(noon, 1) } as const;
      await expect(on.store.readAccount({ ...query, start: micros(noon - 1) })).rejects.toMatchObject({
        code: 'out_of_window',
      });
      await expect(on.store.readAccount({ ...query, start: noon })).resolves.toEqual({ rows: [], next: null });
    });

    it.each([[0], [501], [1.5]])('are refused for a chunk of %s rows', async (limit) => {
      const query = { account: alice, ...around(noon), order: 'oldest', after: null, limit } as const;
      await expect(on.store.readAccount(query)).rejects.toMatchObject({ code: 'invalid_query' });
    });

    it("cannot be scanned beyond the scan's budget", async () => {
      await on.store.append(batch(noon, [0, 4, 8]));
      const query = { account: alice, ...around(noon), order: 'oldest' } as const;
      expect(await collect(scanAccount(on.store, query, 3))).toHaveLength(3);
      await expect(collect(scanAccount(on.store, query, 2))).rejects.toMatchObject({ code: 'budget_exceeded' });
      await expect(on.store.accountIntervals({ ...query, maxRows: 9, budget: 2 })).rejects.toMatchObject({
        code: 'budget_exceeded',
      });
    });
  });

  describe('the counts of an account', () => {
    // Alice has 70 rows a day, enough for stored counts once the day is sealed. Bob has one row a day.
    const numbers = (d: number): number[] => Array.from({ length: 70 }, (_, i) => 4 * (100 * d + i));
    const uriOf = (n: number): string =>
      [alice, `at://${alice}/app.bsky.feed.post/${n}`, `at://${alice}/a.b.c/d`][(n / 4) % 3] ?? '';

    it('are the same before and after the days are sealed, for whole days and for parts of days', async () => {
      const model = new StoreModel();
      for (let d = 0; d < 5; d++) {
        const labels = numbers(d).map((n) => labelNumber(n, { uri: uriOf(n) }));
        const asked = {
          ...batch(later(noon, d * day), [1]),
          observations: [...labels, labelNumber(400 * d + 1)].map(observationOf),
        };
        model.append(asked);
        await on.store.append(asked);
      }
      const questions = [
        { start: noon, end: later(noon, 5 * day) },
        { start: dayStart(20_001), end: dayStart(20_002) },
        { start: later(noon, 20), end: later(noon, day + 30) },
      ].flatMap((interval) =>
        [alice, bob].flatMap((account) => filters.map((filter) => ({ ...interval, account, filter }))),
      );
      for (const state of ['open', 'sealed', 'asked again']) {
        if (state === 'sealed') expect((await on.store.maintain(later(noon, 4 * day))).sealed).toHaveLength(2);
        for (const { account, filter, ...interval } of questions) {
          const tally = await on.store.tallyAccount({ account, ...interval, filter, budget: 1_000 });
          expect(tally).toEqual(model.tally(account, interval, filter));
        }
      }
      expect(await problems(on.store)).toEqual([]);
    });

    it('mark a day that exceeds the budget as not counted, and cover newer days first', async () => {
      // These numbers give too few rows a day for stored counts.
      const few = (d: number): number[] => numbers(d).slice(10);
      for (let d = 0; d < 4; d++) await on.store.append(batch(later(noon, d * day), few(d)));
      const asked = { account: alice, start: noon, end: later(noon, 3 * day + day / 2), budget: 150 };
      for (const state of ['open', 'sealed']) {
        if (state === 'sealed') {
          await on.store.append(batch(later(noon, 6 * day), [1]));
          expect((await on.store.maintain(later(noon, 6 * day))).sealed).toHaveLength(4);
        }
        const { days, labelers: by } = await on.store.tallyAccount(asked);
        expect(days.map(({ counts }) => counts?.rows ?? null)).toEqual([null, null, 60, 60]);
        expect(by.reduce((sum, { applied, removed }) => sum + applied + removed, 0)).toBe(120);
      }
    });

    it('are read from the stored counts of a hot account without reading rows, in sealed and open days', async () => {
      for (let d = 0; d < 4; d++) await on.store.append(batch(later(noon, d * day), numbers(d)));
      const asked = { account: alice, end: later(noon, 3 * day + day / 2), budget: 69 };
      const rowsByDay = async (start: Micros): Promise<(number | null)[]> => {
        const { days } = await on.store.tallyAccount({ ...asked, start });
        return days.map(({ counts }) => counts?.rows ?? null);
      };
      expect(await rowsByDay(dayStart(20_001))).toEqual([70, 70, 70]);
      await on.store.append(batch(later(noon, 6 * day), [1]));
      await on.store.maintain(later(noon, 6 * day));
      expect(await rowsByDay(dayStart(20_001))).toEqual([70, 70, 70]);
      // The query covers only a part of the first day.
      expect(await rowsByDay(later(noon, 1))).toEqual([69, 70, 70, 70]);
      expect(await rowsByDay(noon)).toEqual([null, 70, 70, 70]);
    });

    it('are used by busyAccounts, which lists a few hot accounts of the newest sealed day', async () => {
      const many = [alice, carol].flatMap((account) =>
        Array.from({ length: 70 }, (_, i) => labelNumber(4 * i, { uri: account })).map(observationOf),
      );
      await on.store.append({ ...batch(noon, [1]), observations: [...many, observationOf(labelNumber(1))] });
      expect(await on.store.busyAccounts(9)).toEqual([]);
      await on.store.append(batch(later(noon, 6 * day), [2]));
      await on.store.maintain(later(noon, 6 * day));
      expect((await on.store.busyAccounts(9)).toSorted()).toEqual([alice, carol].toSorted());
      expect(await on.store.busyAccounts(1)).toHaveLength(1);
    });

    it('are exact for a growing day, even if the day was counted before it grew', async () => {
      const model = new StoreModel();
      const today = dayStart(20_001);
      const whole = { start: today, end: dayStart(20_002) };
      const grow = async (at: number, numbers: readonly number[]): Promise<void> => {
        const asked = batch(later(today, at), numbers);
        model.append(asked);
        await on.store.append(asked);
      };
      const check = async (interval: Interval, filter: AccountFilter = {}): Promise<void> => {
        const tally = await on.store.tallyAccount({ account: alice, ...interval, filter, budget: 5_000 });
        expect(tally).toEqual(model.tally(alice, interval, filter));
      };
      const aliceRows = (from: number, count: number) => Array.from({ length: count }, (_, i) => 4 * (from + i));
      await grow(1_000, aliceRows(0, 700));
      await check(whole);
      // Add rows later in the day than the counted rows.
      await grow(5_000, aliceRows(700, 600));
      await check(whole);
      await check(whole, { labeler: mod });
      await check({ start: today, end: later(today, 1_350) });
      await check({ start: later(today, 1_200), end: later(today, 5_300) });
    });

    it('name the 100 values with the most rows, and include the other values in the sum of their labeler', async () => {
      const rowsOf = (src: string, values: number, times: number) =>
        Array.from({ length: values * times }, (_, i) =>
          labelNumber(i, { src, uri: alice, neg: false, val: `v${1_000 + (i % values)}` }),
        );
      const labels = [...rowsOf(mod, 70, 2), ...rowsOf(other, 90, 1)];
      await on.store.append({ ...batch(noon, []), observations: labels.map(observationOf) });
      const { groups } = await on.store.tallyAccount({ account: alice, ...around(noon), budget: 1_000 });
      const today = { firstDay: dayStart(20_000), lastDay: dayStart(20_000) };
      expect(groups.map(({ values, ...labeler }) => [labeler, values.length, values.at(-1)?.value])).toEqual([
        [{ labeler: mod, applied: 140, removed: 0, ...today, otherValues: 0 }, 70, 'v1069'],
        [{ labeler: other, applied: 90, removed: 0, ...today, otherValues: 60 }, 30, 'v1029'],
      ]);
    });

    it('are refused for an interval that begins before the floor', async () => {
      const asked = { account: alice, start: micros(noon - 1), end: later(noon, 1), budget: 1 };
      await expect(on.store.tallyAccount(asked)).rejects.toMatchObject({ code: 'out_of_window' });
    });
  });

  it('the counts by labeler include the newest rows of the current day, even if the day was counted before, and so do the stored refusals', async () => {
    const today = dayStart(20_001);
    const whole = { start: today, end: dayStart(20_002) };
    for (let n = 0; n < 3; n++) {
      await on.store.append({
        ...batch(later(today, n), [3 * n + 1]),
        refusals: [{ source: mod, reason: 'late', count: 1 }],
      });
      expect(await on.store.countsByLabeler(whole)).toMatchObject([{ labeler: other, applied: n + 1 }]);
      expect(await on.store.refusals(whole)).toEqual([{ source: mod, reason: 'late', count: n + 1 }]);
    }
  });

  it('opening a reader fails with not_a_store if no store exists', async () => {
    const empty = await kind.place();
    await expect(empty.read()).rejects.toMatchObject({ code: 'not_a_store' });
    await empty.remove();
  });
});
