import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StoreError } from '../../store/errors.ts';
import type { AccountInterval } from '../../store/port.ts';
import { day, micros } from '../../store/time.ts';
import type { AccountStore } from '../query/account-store.ts';
import { partsInOneTurn, partsInTurns, type Turns } from './exports.ts';

const account = 'did:web:hot.example';

/** Creates a store with one row per stamp. A read that would count more than `most` rows is refused. */
function storeOf(stamps: readonly number[], most: number): AccountStore {
  const accountIntervals: AccountStore['accountIntervals'] = ({ start, end, maxRows }) => {
    const own = stamps.filter((at) => at >= start && at < end);
    if (own.length > most) return Promise.reject(new StoreError('budget_exceeded', 'too many'));
    const parts: AccountInterval[] = [];
    let from = start;
    for (let at = maxRows; at < own.length; at += maxRows) {
      const next = micros(own[at] ?? end);
      parts.push({ start: from, end: next, rows: maxRows });
      from = next;
    }
    return Promise.resolve([...parts, { start: from, end, rows: own.length - parts.length * maxRows }]);
  };
  return { accountIntervals } as unknown as AccountStore;
}

it('partsInTurns counts the rows of a hot account in several turns, and returns adjacent parts that each fit into one download', async () => {
  const stamps = fc.uniqueArray(fc.integer({ min: 0, max: 3 * day }), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(
      stamps.map((all) => all.toSorted((a, b) => a - b)),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 30 }),
      async (rows, maxRows, most) => {
        const store = storeOf(rows, most);
        let turnsTaken = 0;
        const turns: Turns = (work) => {
          turnsTaken += 1;
          return work(store);
        };
        const interval = { start: micros(0), end: micros(3 * day) };
        const parts = await partsInTurns(turns, account, interval, { end: micros(2 * day) }, maxRows);
        expect([parts[0]?.start, parts.at(-1)?.end]).toEqual([0, 3 * day]);
        expect(parts.slice(1).map(({ start }) => start)).toEqual(parts.slice(0, -1).map(({ end }) => end));
        for (const { start, end, rows: counted } of parts) {
          expect(counted).toBeLessThanOrEqual(maxRows);
          expect(counted).toBe(rows.filter((at) => at >= start && at < Math.min(end, 2 * day)).length);
        }
        expect(turnsTaken).toBeGreaterThanOrEqual(2);
        const known = rows.filter((at) => at < 2 * day).length;
        // If all rows fit, there must be only one part.
        if (known <= maxRows) expect(parts).toHaveLength(1);
      },
    ),
  );
});

it('partsInOneTurn returns the parts if one turn suffices to count the rows, and null otherwise', async () => {
  const interval = { start: micros(0), end: micros(day) };
  const partsOf = (most: number) =>
    partsInOneTurn(storeOf([1, 2, 3], most), account, interval, { end: micros(day) }, 2);
  expect(await partsOf(3)).toEqual([
    { start: 0, end: 3, rows: 2 },
    { start: 3, end: day, rows: 1 },
  ]);
  expect(await partsOf(2)).toBeNull();
});
