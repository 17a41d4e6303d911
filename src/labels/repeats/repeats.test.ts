import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Micros } from '../../contract/timestamp.ts';
import type { ReceivedLabel } from '../../store/label.ts';
import type { AccountQuery, NewObservation, Observation } from '../../store/port.ts';
import { day, hour, type Interval, micros, minute } from '../../store/time.ts';
import { burstsByLabeler, burstsIn } from '../publish/window/day-counts.ts';
import { lastKeyChange } from './key-changes.ts';
import {
  addRepeats,
  burst,
  burstsOf,
  LookUps,
  RepeatFinder,
  RepeatMemory,
  readRepeats,
  writeRepeats,
} from './repeats.ts';

type Repeats = ReturnType<typeof readRepeats>[number];

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const at = 29_600_000;

function memoryOf(counts: number[], privileged: ReadonlySet<string> = new Set()) {
  let now = at;
  const memory = new RepeatMemory(
    { count: async () => counts.shift() ?? 0 },
    () => micros(now * minute + 5),
    (source) => privileged.has(source),
  );
  const next = (): void => {
    now += 1;
  };
  const find = async (source = did) => {
    const { changesAt, committed } = await memory.find(source, []);
    return { changes: changesAt(micros(now * minute + 5)), committed };
  };
  return { memory, next, find };
}

test('repeats are recorded only after their rows are durable', async () => {
  const { next, find } = memoryOf([3, 4, 5]);
  const lost = await find();
  expect(lost.changes).toEqual([{ source: did, endpoint: 'repeats', value: `${at.toString(36)}.3` }]);
  const kept = await find();
  expect(kept.changes[0]?.value).toBe(`${at.toString(36)}.4`);
  kept.committed();
  next();
  expect((await find()).changes[0]?.value).toBe(`${at.toString(36)}.4 1.5`);
});

test('the record of repeats continues from the stored state, and a page without repeats does not change it', async () => {
  const { memory, find } = memoryOf([0, 2]);
  expect(memory.load(did, 'wss://endpoint', '1')).toBe(false);
  expect(memory.load(did, 'repeats', `${at.toString(36)}.7`)).toBe(true);
  expect((await find()).changes).toEqual([]);
  expect((await find()).changes[0]?.value).toBe(`${at.toString(36)}.9`);
});

const text = (minuteOfText: number, count: number): string => `${minuteOfText.toString(36)}.${count.toString(36)}`;

test('if there are too many sources, the source whose newest repeat is the oldest is dropped', async () => {
  const { memory, find } = memoryOf([1, 1, 1, 1]);
  const source = (n: number): string => `did:web:${n}.example`;
  for (let n = 0; n < 2_000; n += 1) memory.load(source(n), 'repeats', text(n === 7 ? at - 9 : at - 1, 5));
  const page = await find();
  expect(page.changes[0]?.value).toBe(text(at, 1));
  page.committed();
  expect((await find()).changes[0]?.value).toBe(text(at, 2));
  expect((await find(source(7))).changes[0]?.value).toBe(text(at, 1));
  expect((await find(source(8))).changes[0]?.value).toBe(`${text(at - 1, 5)} 1.1`);
});

test('repeats of many new sources do not evict a privileged source', async () => {
  const { memory, next, find } = memoryOf([100, 7], new Set([did]));
  (await find()).committed();
  next();
  for (let n = 0; n < 5_000; n += 1) memory.load(`did:web:${n}.example`, 'repeats', text(at + 1, 1));
  expect(memory.size).toBe(2_000);
  expect((await find()).changes[0]?.value).toBe(`${text(at, 100)} 1.7`);
});

test('a source is dropped when no published window includes its repeats', async () => {
  const { memory, next, find } = memoryOf([1]);
  const old = 'did:web:old.example';
  memory.load(old, 'repeats', text(at - 31 * 1440, 5));
  memory.load('did:web:garbage.example', 'repeats', '!');
  expect(memory.size).toBe(0);
  memory.load(old, 'repeats', text(at - 31 * 1440 + 1, 5));
  expect(memory.size).toBe(1);
  next();
  (await find()).committed();
  expect(memory.size).toBe(1);
});

const first = 29_600_000;
const all = { start: micros(0), end: micros((first + 100_000) * minute) };
const repeatsAt = (minuteOfTest: number, count: number): Repeats => ({ minute: first + minuteOfTest, count });

describe('a burst', () => {
  test(`consists of at least ${burst.rows} repeats within 60 minutes, and fewer repeats are new events`, () => {
    expect(burstsIn(burstsOf([repeatsAt(0, burst.rows - 1)]), all)).toBe(0);
    expect(burstsIn(burstsOf([repeatsAt(0, burst.rows)]), all)).toBe(burst.rows);
    expect(burstsIn(burstsOf([repeatsAt(0, 60), repeatsAt(59, 40)]), all)).toBe(100);
    expect(burstsIn(burstsOf([repeatsAt(0, 60), repeatsAt(60, 40)]), all)).toBe(0);
  });

  test('includes every repeat that is within an hour of enough other repeats, and excludes all other repeats', () => {
    expect(burstsIn(burstsOf([repeatsAt(0, 5), repeatsAt(30, 60), repeatsAt(61, 60), repeatsAt(200, 7)]), all)).toBe(
      120,
    );
    expect(burstsIn(burstsOf([repeatsAt(2, 5), repeatsAt(30, 60), repeatsAt(61, 60), repeatsAt(200, 7)]), all)).toBe(
      125,
    );
  });

  test('reduces the count of an interval by the repeats of the minutes that begin in the interval', () => {
    const burst = [repeatsAt(0, 100), repeatsAt(1, 200), repeatsAt(2, 400)];
    const interval = { start: micros((first + 1) * minute), end: micros((first + 2) * minute) };
    expect(burstsIn(burstsOf(burst), interval)).toBe(200);
    expect(burstsIn(burstsOf(burst), { ...interval, start: micros(interval.start + 1) })).toBe(0);
  });
});

test('bursts match their definition for any sequence of minutes', () => {
  const naive = (repeats: readonly Repeats[]): number => {
    const near = (one: Repeats) => repeats.filter(({ minute: m }) => m > one.minute - 60 && m <= one.minute);
    const full = repeats.map(near).filter((some) => some.reduce((sum, { count }) => sum + count, 0) >= burst.rows);
    return [...new Set(full.flat())].reduce((sum, { count }) => sum + count, 0);
  };
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 60 });
  fc.assert(
    fc.property(
      minutes,
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 60, maxLength: 60 }),
      (some, counts) => {
        const repeats = some.sort((a, b) => a - b).map((one, i) => repeatsAt(one, counts[i] ?? 1));
        expect(burstsIn(burstsOf(repeats), all)).toBe(naive(repeats));
      },
    ),
  );
});

test('bursts are found in one pass over the minutes', () => {
  let reads = 0;
  const counted = (one: Repeats): Repeats => ({
    count: one.count,
    get minute() {
      reads += 1;
      return one.minute;
    },
  });
  const repeats = Array.from({ length: 1_000 }, (_, i) => counted(repeatsAt(i, 2)));
  expect(burstsIn(burstsOf(repeats), all)).toBe(2_000);
  expect(reads).toBeLessThan(20_000);
});

test('repeats of one minute are added together, and repeats are dropped after 31 days', () => {
  expect(addRepeats([repeatsAt(0, 3), repeatsAt(2, 1)], repeatsAt(2, 5))).toEqual([repeatsAt(0, 3), repeatsAt(2, 6)]);
  expect(addRepeats([repeatsAt(0, 3), repeatsAt(2, 1)], repeatsAt(31 * 1440 + 1, 5))).toEqual([
    repeatsAt(2, 1),
    repeatsAt(31 * 1440 + 1, 5),
  ]);
});

test('formatted repeats are parsed back unchanged, and invalid entries are skipped', () => {
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 40_000 }), { maxLength: 200 });
  fc.assert(
    fc.property(minutes, fc.integer({ min: 1, max: 1_000_000 }), (some, count) => {
      const repeats = some.sort((a, b) => a - b).map((one, i) => repeatsAt(one, count + i));
      expect(readRepeats(writeRepeats(repeats, 100_000))).toEqual(repeats);
    }),
  );
  expect(readRepeats('zz z. .1 1.1 -1.2 1.2')).toEqual([
    { minute: 1, count: 1 },
    { minute: 2, count: 2 },
  ]);
});

test('repeats that exceed the maximum length of the text are merged by hour, and then the oldest hours are omitted', () => {
  const week = Array.from({ length: 7 * 1440 }, (_, i) => repeatsAt(i, 2));
  const text = writeRepeats(week, 4_000);
  expect(text.length).toBeLessThanOrEqual(4_000);
  expect(burstsIn(burstsOf(readRepeats(text)), all)).toBe(burstsIn(burstsOf(week), all));
  const short = readRepeats(writeRepeats(week, 200));
  expect(short.at(-1)).toEqual({ minute: first + 7 * 1440 - 20, count: 40 });
  expect(short.length).toBeGreaterThan(10);
});

test('an interval that contains a part of a merged hour has this part of its repeats', () => {
  const repeats = Array.from({ length: 28 * 60 }, (_, i) => repeatsAt(i, 30));
  const stored = burstsOf(readRepeats(writeRepeats(repeats, 4_000)));
  expect(stored.length).toBeLessThan(repeats.length);
  const counted = (from: number, until: number): number =>
    burstsIn(stored, { start: micros((first + from) * minute), end: micros((first + until) * minute) });
  const starts = Array.from({ length: 28 * 60 }, (_, i) => i).filter((from) => from % 7 === 0);
  expect(starts.map((from) => counted(from, 28 * 60))).toEqual(starts.map((from) => 30 * (28 * 60 - from)));
  expect(starts.map((from) => counted(0, from))).toEqual(starts.map((from) => 30 * from));
});

test('the parts of a merged hour have all its repeats together, however it is divided', () => {
  const merged = readRepeats(writeRepeats([repeatsAt(0, 50), repeatsAt(7, 51), repeatsAt(38, 6)], 16));
  const at = (minuteOfTest: number) => micros((first + minuteOfTest) * minute);
  const parts = Array.from({ length: 45 }, (_, i) => burstsIn(merged, { start: at(i), end: at(i + 1) }));
  expect(new Set(parts)).toEqual(new Set([0, 2, 3]));
  expect(parts.reduce((sum, count) => sum + count, 0)).toBe(107);
  expect(burstsIn(merged, { start: at(5), end: at(3) })).toBe(0);
});

test('repeats of a minute in a merged hour, as after the clock was set back, are added to the hour', () => {
  const text = writeRepeats([repeatsAt(0, 50), repeatsAt(7, 51), repeatsAt(38, 6)], 16);
  const added = addRepeats(readRepeats(text), repeatsAt(20, 3));
  expect(added).toEqual([{ minute: first, through: first + 38, count: 110 }]);
  expect(readRepeats(writeRepeats(addRepeats(added, repeatsAt(45, 9)), 100))).toEqual([...added, repeatsAt(45, 9)]);
});

test('a version that does not know the last minute of a merged hour reads a minute without repeats', () => {
  const text = writeRepeats([repeatsAt(0, 50), repeatsAt(7, 51), repeatsAt(38, 6), repeatsAt(70, 4)], 19);
  expect(text).toBe(`${first.toString(36)}.2z 12.0 w.4`);
});

test('burstsByLabeler yields to the event loop between the labelers', async () => {
  const positions = Array.from({ length: 2_000 }, (_, i) => ({
    ...{ source: `did:web:${i}.example`, endpoint: 'repeats', value: '1.2s', acceptedAt: micros(0) },
  }));
  let ended = false;
  const found = burstsByLabeler(positions, []);
  const all = (async () => {
    const bursts = await found;
    ended = true;
    return bursts;
  })();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  expect((await all).size).toBe(2_000);
});

test('repeats from before the end of the purge of their labeler are omitted', async () => {
  const source = 'did:web:a.example';
  // The purge removes the rows that were accepted until it began, which may be after the request.
  const positions = [{ source, endpoint: 'repeats', value: '1.2s', acceptedAt: micros(0) }];
  const purge = { source, requestedAt: micros(minute), rows: 0, daysLeft: 1 };
  const keysWith = async (completedAt: Micros | null) => [
    ...(await burstsByLabeler(positions, [{ ...purge, completedAt }])).keys(),
  ];
  expect([await keysWith(micros(2 * minute)), await keysWith(micros(minute)), await keysWith(null)]).toEqual([
    [],
    [source],
    [],
  ]);
});

const maxLookUps = 2_000;

type RepeatFinderOptions = ConstructorParameters<typeof RepeatFinder>[0];

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
  const keyChanges = { timeOf: () => Promise.resolve(lastKeyChange(changed)) };
  const finder = new RepeatFinder({ store, keyChanges, clock: () => now, charge: () => undefined, ...more });
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
