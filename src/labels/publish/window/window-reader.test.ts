import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MemoryContent, type MemoryRow, windowStore } from '../../../../harness/labels/window-store.ts';
import { StoreError } from '../../../store/errors.ts';
import { day, hour, micros, minute, second } from '../../../store/time.ts';
import type { DayCounts } from './day-counts.ts';
import { CountSums, WindowReader, type WindowReading } from './window-reader.ts';

const start = 20_000 * day;

/** Returns the counts of a window by labeler and day, without days that have no rows. */
function byDay({ days }: WindowReading): Record<string, readonly [number, number, number]> {
  return Object.fromEntries(
    days.flatMap(({ day: at, counts }) =>
      [...counts].map(([labeler, { applied, removed, repeats }]) => [`${labeler} ${at}`, [applied, removed, repeats]]),
    ),
  );
}

/** Counts rows directly, without repeats. */
function counted(rows: readonly MemoryRow[], from: number, now: number): Record<string, readonly number[]> {
  const groups = Map.groupBy(
    rows.filter(({ at }) => at >= from && at < now),
    ({ labeler, at }) => `${labeler} ${Math.floor(at / day)}`,
  );
  return Object.fromEntries(
    [...groups].map(([name, own]) => {
      const removed = own.filter((row) => row.removed === true).length;
      return [name, [own.length - removed, removed, 0]];
    }),
  );
}

/** Generates rows of three labelers in 40 days, in order of their stamps, with many rows in the last hours. */
const arbitraryRows = fc
  .array(
    fc.record({
      labeler: fc.constantFrom('did:plc:a', 'did:plc:b', 'did:plc:c'),
      at: fc.oneof(
        fc.integer({ min: 0, max: 40 * 24 * 60 }).map((at) => at * minute),
        fc.integer({ min: 0, max: 3 * hour }).map((at) => 40 * day - at),
        fc.integer({ min: 0, max: 40 * 24 }).map((at) => at * hour),
      ),
      removed: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .map((rows) => rows.map((row) => ({ ...row, at: start + row.at })).sort((a, b) => a.at - b.at));

test('the counts of each day equal the counts of its rows in every read while rows arrive', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryRows,
      fc.array(fc.integer({ min: 1, max: 90 * 60 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 40 * 24 * 60 * 60 }),
      async (rows, pauses, retained) => {
        const startedAt = start + Math.min(retained * second, 39 * day);
        let now = start + 40 * day - hour;
        const content = (): MemoryContent => ({
          startedAt,
          rows: rows.filter(({ at }) => at >= startedAt && at < now),
        });
        const reader = new WindowReader(windowStore(content));
        for (const pause of pauses) {
          now += pause * second;
          const reading = await reader.read(micros(now), 30);
          const from = (days: number) => Math.max(startedAt, now - days * day);
          expect(byDay(reading)).toEqual(counted(content().rows, from(30), now));
          const total = (days: number) => content().rows.filter(({ at }) => at >= from(days)).length;
          const sum = (part: WindowReading['inDay']) => part.counts.reduce((all, { events }) => all + events, 0);
          expect([sum(reading.inWindow), sum(reading.inWeek), sum(reading.inDay)]).toEqual([30, 7, 1].map(total));
          for (const labeler of ['did:plc:a', 'did:plc:b', 'did:plc:c']) {
            const last = content().rows.findLast((row) => row.labeler === labeler && row.at >= from(30))?.at;
            const floorMinute = Math.ceil(from(30) / minute) * minute;
            const expected = last === undefined || last < floorMinute ? undefined : last - (last % minute);
            expect(reading.lastRows.get(labeler)).toBe(expected);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a second read requests only the hours that can still change and the edges of the intervals', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({ labeler: 'did:plc:a', at: start + i * 16 * hour }));
  const store = windowStore(() => ({ startedAt: start, rows }));
  let requests = 0;
  const reader = new WindowReader({
    ...store,
    countsByLabeler: (interval) => {
      requests += 1;
      return store.countsByLabeler(interval);
    },
  });
  const now = micros(start + 40 * day + 30 * minute);
  await reader.read(now, 30);
  const first = requests;
  await reader.read(micros(now + minute), 30);
  expect(first).toBeGreaterThan(24 * 29);
  expect(requests - first).toBeLessThan(10);
});

test('a row that is stored after a read, with a stamp in the hour that just ended, is counted by the next read', async () => {
  const end = start + day + hour;
  const rows = [{ labeler: 'did:plc:a', at: end - 10 * second }];
  const reader = new WindowReader(windowStore(() => ({ startedAt: start, rows })));
  const first = await reader.read(micros(end + second), 30);
  expect(first.inDay.counts).toEqual([{ labeler: 'did:plc:a', events: 1 }]);
  rows.push({ labeler: 'did:plc:a', at: end - second });
  const next = await reader.read(micros(end + 2 * second), 30);
  expect(next.inDay.counts).toEqual([{ labeler: 'did:plc:a', events: 2 }]);
});

test('refusals are counted in the window, and apart from that in the last day', async () => {
  const now = micros(start + 40 * day + 30 * minute);
  const refused = (ago: number, count: number) => {
    return { source: 'did:plc:a', reason: 'late' as const, count, at: now - ago };
  };
  const [old, earlier, recent] = [refused(31 * day, 1), refused(3 * day, 2), refused(hour, 4)];
  const store = windowStore(() => ({ startedAt: start, rows: [], refusals: [old, earlier, recent] }));
  const { refusals, refusedInDay } = await new WindowReader(store).read(now, 30);
  expect([refusals, refusedInDay].map((list) => list.map(({ count }) => count))).toEqual([[2, 4], [4]]);
});

test('the rows that a purge removes are no longer counted', async () => {
  let rows: readonly MemoryRow[] = [
    { labeler: 'did:plc:a', at: start + day },
    { labeler: 'did:plc:b', at: start + 3 * day },
  ];
  let revision = 0;
  const reader = new WindowReader(windowStore(() => ({ startedAt: start, rows, revision })));
  const now = micros(start + 4 * day);
  expect((await reader.read(now, 30)).inWindow.counts).toHaveLength(2);
  rows = rows.slice(1);
  revision += 1;
  expect((await reader.read(now, 30)).inWindow.counts).toEqual([{ labeler: 'did:plc:b', events: 1 }]);
});

test('a read is repeated if a purge occurs during the read', async () => {
  let rows: readonly MemoryRow[] = [
    { labeler: 'did:plc:a', at: start + day },
    { labeler: 'did:plc:b', at: start + 3 * day },
  ];
  let revision = 0;
  const store = windowStore(() => ({ startedAt: start, rows, revision }));
  let requests = 0;
  const reader = new WindowReader({
    ...store,
    countsByLabeler: (interval) => {
      requests += 1;
      const counts = store.countsByLabeler(interval);
      if (requests === 40) {
        rows = rows.slice(1);
        revision += 1;
      }
      return counts;
    },
  });
  const reading = await reader.read(micros(start + 4 * day), 30);
  expect(reading.inWindow.counts).toEqual([{ labeler: 'did:plc:b', events: 1 }]);
});

test('a read is repeated with the new floor if the oldest day is dropped during the read', async () => {
  const rows: readonly MemoryRow[] = [
    { labeler: 'did:plc:a', at: start + hour },
    { labeler: 'did:plc:b', at: start + 3 * day },
  ];
  for (const droppedAt of [3, 40]) {
    let floor = start;
    const store = windowStore(() => ({ startedAt: start, floor, rows: rows.filter(({ at }) => at >= floor) }));
    let requests = 0;
    const reader = new WindowReader({
      ...store,
      countsByLabeler: (interval) => {
        requests += 1;
        const counts = store.countsByLabeler(interval);
        if (requests === droppedAt) floor = start + day;
        return counts;
      },
    });
    const reading = await reader.read(micros(start + 4 * day), 30);
    expect(reading.frontier.floor).toBe(start + day);
    expect(reading.inWindow.counts).toEqual([{ labeler: 'did:plc:b', events: 1 }]);
  }
});

test('a read of the window fails if a day is dropped during every attempt', async () => {
  const store = windowStore(() => ({ startedAt: start, rows: [] }));
  const dropped = new StoreError('out_of_window', 'the interval begins before the floor');
  const reader = new WindowReader({ ...store, refusals: () => Promise.reject(dropped) });
  await expect(reader.read(micros(start + 4 * day), 30)).rejects.toBe(dropped);
});

test.each<[string, number]>([
  ['of the closed days', 1],
  ['of the window', 2],
])('a read fails, instead of omitting counters, if the store cannot read the counters %s', async (_, failing) => {
  const rows = [{ labeler: 'did:plc:a', at: start + 3 * day + hour }];
  const store = windowStore(() => ({ startedAt: start, rows }));
  const busy = new StoreError('busy', 'the query took too long');
  let requests = 0;
  const reader = new WindowReader({
    ...store,
    labelerCounters: (interval) => {
      requests += 1;
      return requests === failing ? Promise.reject(busy) : store.labelerCounters(interval);
    },
  });
  const now = micros(start + 4 * day);
  await expect(reader.read(now, 30)).rejects.toBe(busy);
  expect((await reader.read(now, 30)).counters).not.toBeNull();
});

test('bursts of repeats are excluded from each day, from the sums, and from the last row', async () => {
  const now = micros(start + 40 * day);
  const burstAt = now - 26 * hour;
  const rows: readonly MemoryRow[] = [
    { labeler: 'did:plc:a', at: now - 50 * hour, removed: true },
    ...Array.from({ length: 120 }, (_, i) => ({
      labeler: 'did:plc:a',
      at: burstAt + i * second * 0.1,
      removed: i < 20,
    })),
    { labeler: 'did:plc:b', at: now - hour },
  ];
  const value = `${(burstAt / minute).toString(36)}.${(110).toString(36)}`;
  const positions = [{ source: 'did:plc:a', endpoint: 'repeats', value, acceptedAt: now }];
  const reading = await new WindowReader(windowStore(() => ({ startedAt: start, rows, positions }))).read(now, 30);
  const at = Math.floor(burstAt / day);
  // Repeats are subtracted from applications first.
  expect(byDay(reading)[`did:plc:a ${at}`]).toEqual([0, 10, 110]);
  expect(reading.inWindow).toEqual({
    counts: [
      { labeler: 'did:plc:a', events: 11 },
      { labeler: 'did:plc:b', events: 1 },
    ],
    leftOut: 110,
    labelers: 1,
  });
  expect(reading.lastRows.get('did:plc:a')).toBe(burstAt);
  const all = `${(burstAt / minute).toString(36)}.${(120).toString(36)}`;
  const burst = [{ source: 'did:plc:a', endpoint: 'repeats', value: all, acceptedAt: now }];
  const without = await new WindowReader(windowStore(() => ({ startedAt: start, rows, positions: burst }))).read(
    now,
    30,
  );
  expect(without.lastRows.get('did:plc:a')).toBe(now - 50 * hour);
});

test('repeats from before a purge of the labeler are not subtracted from its later rows', async () => {
  const now = micros(start + 40 * day);
  const rows = Array.from({ length: 150 }, (_, i) => ({ labeler: 'did:plc:a', at: now - hour + i }));
  const value = `${((now - hour) / minute).toString(36)}.${(150).toString(36)}`;
  const positions = [{ source: 'did:plc:a', endpoint: 'repeats', value, acceptedAt: now }];
  const purges = [{ source: 'did:plc:a', requestedAt: micros(now - minute), completedAt: now, rows: 1, daysLeft: 0 }];
  const reading = await new WindowReader(windowStore(() => ({ startedAt: start, rows, positions, purges }))).read(
    now,
    30,
  );
  expect(reading.inWindow.counts).toEqual([{ labeler: 'did:plc:a', events: 150 }]);
});

test('the reader does not search for the last row of a labeler whose rows are all repeats', async () => {
  const at = Array.from({ length: 600 }, (_, i) => start + day + i * hour);
  const rows = at.flatMap((from) => Array.from({ length: 100 }, (_, i) => ({ labeler: 'did:plc:a', at: from + i })));
  let before = 0;
  const gaps = at.map((from) => {
    const gap = from / minute - before;
    before = from / minute;
    return `${gap.toString(36)}.${(100).toString(36)}`;
  });
  const now = micros(start + day + 600 * hour + 30 * minute);
  const positions = [{ source: 'did:plc:a', endpoint: 'repeats', value: gaps.join(' '), acceptedAt: now }];
  const store = windowStore(() => ({ startedAt: start, rows, positions }));
  let reads = 0;
  const reader = new WindowReader({
    ...store,
    countsOverTime: (asked) => {
      reads += 1;
      return store.countsOverTime(asked);
    },
  });
  const reading = await reader.read(now, 30);
  expect(reading.inWindow.leftOut).toBe(60_000);
  expect(reading.lastRows.get('did:plc:a')).toBeUndefined();
  // The single read is for the minutes of the open hours.
  expect(reads).toBe(1);
});

const labelers = ['did:web:a', 'did:web:b', 'did:web:c'];
const count = fc.record({
  applied: fc.nat(5),
  removed: fc.nat(5),
  repeats: fc.nat(2),
  hours: fc.constant(0),
});
const dayCounts = fc
  .dictionary(fc.constantFrom(...labelers), count)
  .map((all): DayCounts => new Map(Object.entries(all)));
/** Generates changes of an interval: a new day at the end, or new counts of the first, the last or an inner day. */
const change = fc.tuple(fc.constantFrom('next', 'first', 'last', 'inner', 'none'), dayCounts);

test('cached sums over an interval equal uncached sums while the days of the interval change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(dayCounts, { minLength: 1, maxLength: 5 }),
      fc.array(change, { maxLength: 6 }),
      async (start, changes) => {
        const sums = new CountSums();
        let days = start;
        for (const [kind, counts] of [['none', new Map()] as const, ...changes]) {
          if (kind === 'next') days = [...days.slice(1), counts];
          else if (kind === 'first') days = days.with(0, counts);
          else if (kind === 'last') days = days.with(-1, counts);
          else if (kind === 'inner') days = days.with(Math.floor(days.length / 2), counts);
          const parts: Parameters<CountSums['of']>[0] = days.map((all, day) => ({ day, counts: all }));
          expect(await sums.of(parts)).toEqual(plain(days));
        }
      },
    ),
    { numRuns: 50 },
  );
});

function plain(days: readonly DayCounts[]) {
  const all = labelers.map((labeler) => {
    const own = days.flatMap((counts) => counts.get(labeler) ?? []);
    const events = own.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
    return { labeler, events, repeats: own.reduce((sum, { repeats }) => sum + repeats, 0) };
  });
  const counts = all.filter(({ events }) => events > 0).map(({ labeler, events }) => ({ labeler, events }));
  return {
    counts: counts.sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1)),
    leftOut: all.reduce((sum, { repeats }) => sum + repeats, 0),
    labelers: all.filter(({ repeats }) => repeats > 0).length,
  };
}
