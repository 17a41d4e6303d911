import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ReceivedLabel } from '../../store/label.ts';
import type { AccountQuery, NewObservation, Observation } from '../../store/port.ts';
import { day, hour, type Interval, micros } from '../../store/time.ts';
import { createRepeatFinder, LookUps, lastKeyChange } from './repeat-finder.ts';

const maxLookUps = 2_000;

type RepeatFinderOptions = Parameters<typeof createRepeatFinder>[0];

const src = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const account = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb';
const now = micros(40 * day);

const key = (name: string, firstSeen: number, lastSeen: number) => ({
  ...{ did: src, key: name, firstSeen: micros(firstSeen), lastSeen: micros(lastSeen) },
});
const changed = [key('zA', now - 30 * day, now - 2 * day), key('zB', now - day, now)];

/** Creates a label of the account; `at` makes its `cts` unique. */
function label(at: number, more: Partial<ReceivedLabel> = {}): ReceivedLabel {
  return { src, uri: account, val: 'spam', cts: `cts ${at}`, ...more };
}

const observed = (labels: readonly ReceivedLabel[]): NewObservation[] =>
  labels.map((one) => ({ label: one, signature: 'verified' }));

/** Creates a finder over stored labels. `ago` is the age of each label, the oldest first. */
function finderOver(
  stored: readonly (readonly [ago: number, label: ReceivedLabel])[],
  more: Partial<RepeatFinderOptions> = {},
) {
  const queries: AccountQuery[] = [];
  const rows = stored.map(
    ([ago, one]): Observation => ({ observedAt: micros(now - ago), label: one, signature: 'verified' }),
  );
  const within = ({ start, end }: Interval) => rows.filter(({ observedAt: at }) => at >= start && at < end);
  const store: RepeatFinderOptions['store'] = {
    keys: () => Promise.resolve(changed),
    frontier: () =>
      Promise.resolve({ generationId: 'g', floor: micros(0), end: now, observedThrough: now, revision: 0 }),
    readAccount: (query) => {
      queries.push(query);
      const own = within(query).filter((row) => row.label.uri.includes(query.account));
      const ordered = query.order === 'oldest' ? own : own.toReversed();
      const chunk = ordered.slice(0, query.limit);
      return Promise.resolve({
        rows: chunk,
        next: own.length > query.limit ? (chunk.at(-1)?.observedAt ?? null) : null,
      });
    },
  };
  const finder = createRepeatFinder({ store, clock: () => now, charge: () => undefined, ...more });
  return { queries, count: (...labels: ReceivedLabel[]) => finder.count(src, observed(labels)) };
}

test('a row is a repeat if it differs only in time from the newest stored row of its label', async () => {
  const { count } = finderOver([[hour, label(1)]]);
  expect(await count(label(2))).toBe(1);
  expect(await count(label(1, { exp: 'later' }))).toBe(1);
  expect(await count(label(1))).toBe(0);
  expect(
    await count(label(2, { val: 'rude' }), label(2, { cid: 'c' }), label(2, { uri: `at://${account}/a.b/c` })),
  ).toBe(0);
});

test('a row is a new event if it changes the newest stored state of its label, even if an equal event is stored', async () => {
  const removed = finderOver([
    [3 * hour, label(1)],
    [2 * hour, label(2, { neg: true })],
  ]);
  expect(await removed.count(label(3))).toBe(0);
  expect(await removed.count(label(3, { neg: true }))).toBe(1);
  const applied = finderOver([
    [3 * hour, label(1)],
    [2 * hour, label(2, { neg: true })],
    [hour, label(3, { neg: false })],
  ]);
  expect(await applied.count(label(4, { neg: true }))).toBe(0);
  expect(await applied.count(label(4))).toBe(1);
});

test('the rows of a page are judged in their order, and a duplicate does not change the state', async () => {
  const { count } = finderOver([
    [2 * hour, label(1)],
    [hour, label(2, { neg: true })],
  ]);
  expect(await count(label(3), label(4, { neg: true }), label(5))).toBe(0);
  expect(await count(label(3), label(4), label(5, { neg: true }))).toBe(1);
  expect(await count(label(1), label(3, { neg: true }))).toBe(1);
});

test('a source is charged for its look-ups, and its rows beyond the hourly budget count as new events', async () => {
  let cpu = 0;
  let charged = 0;
  const paid: Partial<RepeatFinderOptions> = {
    cpuMs: () => {
      cpu += 1;
      return cpu;
    },
    charge: (source, cpuMs) => {
      expect(source).toBe(src);
      charged += cpuMs;
    },
  };
  const { queries, count } = finderOver([[hour, label(1)]], paid);
  expect(await count(...Array.from({ length: maxLookUps + 50 }, (_, i) => label(2 + i)))).toBe(maxLookUps);
  expect(await count(label(1_000_000))).toBe(0);
  expect([queries.length, charged]).toEqual([maxLookUps, maxLookUps]);
  expect(Math.max(...queries.map(({ limit }) => limit))).toBe(100);
});

test('a row is a new event if the look-up might have omitted its duplicate', async () => {
  const others = Array.from({ length: 100 }, (_, i) => [hour, label(100 + i)] as const);
  const busy = finderOver([[2 * hour, label(1)], ...others]);
  expect(await busy.count(label(1))).toBe(0);
  expect(await busy.count(label(2))).toBe(0);
  expect(await busy.count(label(1), label(2), label(3))).toBe(0);
  const all = finderOver(others);
  expect(await all.count(label(2))).toBe(1);
  // Rows older than the duplicate horizon count as late when they arrive again.
  const late = finderOver([[3 * day, label(1)], [3 * day - 1, label(1)], ...others.slice(1)]);
  expect(await late.count(label(2))).toBe(1);
});

test('if an earlier key returned, the last key change is the last observation of the key before the return; otherwise it is the first observation of the newest key', () => {
  expect(lastKeyChange([])).toBe(null);
  expect(lastKeyChange([key('zA', 1, 9)])).toBe(null);
  expect(lastKeyChange([key('zA', 1, 9), key('zB', 1, 9)])).toBe(null);
  expect(lastKeyChange([key('zA', 1, 4), key('zB', 5, 9)])).toBe(5);
  expect(lastKeyChange([key('zA', 1, 9), key('zB', 5, 9)])).toBe(5);
  expect(lastKeyChange([key('zA', 1, 12), key('zB', 5, 9)])).toBe(9);
  expect(lastKeyChange([key('zA', 1, 12), key('zB', 5, 9), key('zC', 3, 4)])).toBe(9);
});

/** Simulates look-ups of one millisecond each. `charged` contains the charges of each source. */
function lookUps() {
  const state = { cpu: 0, now: 5 * hour };
  const charged = new Map<string, number>();
  const all = new LookUps({
    clock: () => micros(state.now),
    charge: (source, cpuMs) => void charged.set(source, (charged.get(source) ?? 0) + cpuMs),
    cpuMs: () => state.cpu,
  });
  const run = (source: string, done: () => void = () => undefined) =>
    all.run(source, async () => {
      state.cpu += 1;
      done();
      return true;
    });
  return { state, charged, all, run };
}

test('the processor time of a look-up is charged to its source, even if the look-up fails', async () => {
  const { state, charged, all, run } = lookUps();
  await Promise.all([run('a'), run('b'), run('a')]);
  const failing = all.run('b', () => {
    state.cpu += 5;
    return Promise.reject(new Error('expired'));
  });
  await expect(failing).rejects.toThrow('expired');
  expect(await run('c')).toBe(true);
  expect([...charged]).toEqual([
    ['a', 2],
    ['b', 6],
    ['c', 1],
  ]);
});

test('the queue of look-ups yields to the event loop after each slice of processor time', async () => {
  const { run } = lookUps();
  let turn = 0;
  let ended = false;
  const inTurn = new Map<number, number>();
  const turns = (async () => {
    for (; !ended; turn += 1) await nextTurn();
  })();
  const source = async (name: string) => {
    for (let i = 0; i < 10; i += 1) await run(name, () => inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1));
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => source(`did:web:${i}.example`)));
  ended = true;
  await turns;
  expect([...inTurn.values()].reduce((sum, count) => sum + count, 0)).toBe(200);
  expect(Math.max(...inTurn.values())).toBeLessThanOrEqual(4);
});

test(`a source can make ${maxLookUps} look-ups an hour, independently of other sources`, async () => {
  const { state, charged, run } = lookUps();
  const results = await Promise.all(Array.from({ length: maxLookUps + 1 }, () => run('a')));
  expect([results.at(-2), results.at(-1), await run('b')]).toEqual([true, null, true]);
  expect(charged.get('a')).toBe(maxLookUps);
  state.now += hour;
  expect(await run('a')).toBe(true);
});
