import { expect, it } from 'vitest';
import { account, fill, folderInTest, writerInTest } from '../../../test/support/account.ts';
import { micros } from '../../store/time.ts';
import type { AccountStore } from '../account-store.ts';
import { DefinitionCache } from './definitions.ts';
import { labelersOf } from './network.ts';
import { readView } from './view.ts';

/** Noon of an ordinary day. */
const noon = 20_000 * 86_400_000_000 + 43_200_000_000;

it.each([12, 300])('a page of %s rows ends at one frontier, whatever is accepted while it is made', async (count) => {
  const writer = writerInTest(folderInTest(), noon);
  await fill(writer, count, { at: noon + 1_000_000 });
  let next = count;
  const grown = async (): Promise<void> => {
    await fill(writer, 10, { from: next, at: noon + 2_000_000 });
    next += 10;
  };
  const store: AccountStore = {
    ...writer,
    tallyAccount: async (asked) => {
      await grown();
      const tally = await writer.tallyAccount(asked);
      await grown();
      return tally;
    },
  };
  const view = await readView(
    { store, definitions: new DefinitionCache(() => 0), labelers: labelersOf(() => 0) },
    {
      query: { account, asked: { kind: 'days', days: 7 }, filters: {} },
      before: null,
      now: micros(noon + 60_000_000),
    },
  );
  if (view === 'out_of_window') throw new Error(view);
  const { rows, parts, frontier, tally, interval } = view;
  expect({ rows, total: parts.reduce((sum, { total }) => sum + (total ?? 0), 0) }).toEqual({
    rows: count,
    total: count,
  });
  const newest = parts.flatMap((part) => part.rows).map(({ observedAt }) => observedAt);
  expect(Math.max(...newest)).toBe(frontier.end - 1);
  // The days still cover the whole of the interval.
  expect([tally.days[0]?.start, tally.days.at(-1)?.end]).toEqual([interval.start, interval.end]);
});

it('of an interval without anything accepted, its days are counted and empty', async () => {
  const writer = writerInTest(folderInTest(), noon);
  await fill(writer, 3, { at: noon + 1_000_000 });
  const start = micros(noon + 2_000_000);
  const end = micros(noon + 2 * 86_400_000_000);
  const view = await readView(
    { store: writer, definitions: new DefinitionCache(() => 0), labelers: labelersOf(() => 0) },
    { query: { account, asked: { kind: 'explicit', start, end }, filters: {} }, before: null, now: end },
  );
  if (view === 'out_of_window') throw new Error(view);
  expect(view.tally.days.map(({ counts }) => counts?.rows)).toEqual([0, 0, 0]);
  expect(view.parts.map(({ rows, next }) => ({ rows, next }))).toEqual(Array(3).fill({ rows: [], next: null }));
});
