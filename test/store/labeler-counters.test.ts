import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { labelers, labelNumber, noon } from '../../harness/conformance/labels.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { writeEarlierStore } from '../../harness/store/earlier-store.ts';
import { sealedToday, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { delayBounds, delayQuantile, maxCountedValueBytes, maxCountedValues } from '../../src/store/counts.ts';
import type { ReceivedLabel } from '../../src/store/label.ts';
import type { NewObservation, StoreWriter } from '../../src/store/port.ts';
import { StoredLabelerCounters } from '../../src/store/sqlite/labeler/stored-counters.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { repairStore } from '../../src/store/sqlite/repair/repair.ts';
import { day, dayStart, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const [mod = '', other = ''] = labelers;
const start = dayStart(20_000);
const whole = { start: noon, end: dayStart(20_006) };
const later = micros(noon + 4 * day);

/**
 * Returns a live observation of a label authored `delay` milliseconds before noon, or, if `delay` is null, an
 * observation that is not live of a label authored at noon.
 */
function observed(n: number, change: Partial<ReceivedLabel>, delay: number | null = null): NewObservation {
  const cts = new Date(noon / 1000 - (delay ?? 0)).toISOString();
  return { label: labelNumber(n, { src: mod, cts, ...change }), signature: 'verified', live: delay !== null };
}

async function append(store: StoreWriter, observations: readonly NewObservation[], at = noon): Promise<void> {
  await store.append({ at, observations, refusals: [], positions: [] });
}

/** Seals the first day of a store. */
async function seal(store: StoreWriter): Promise<void> {
  await append(store, [observed(9_999, { src: other })], later);
  expect((await store.maintain(later)).sealed).toEqual(['2024-10-04']);
}

/** Returns the counters of the first labeler over the first day. */
async function countersOf(store: StoreWriter) {
  const { labelers: all } = await store.labelerCounters({ start: noon, end: dayStart(20_001) });
  return all.find(({ labeler }) => labeler === mod);
}

describe('the values of a labeler', () => {
  it('are counted by name up to a daily maximum, and together beyond it, even after sealing', async () => {
    const store = place.open();
    const more = 10;
    const rows = Array.from({ length: maxCountedValues + more }, (_, n) =>
      observed(n, { val: `v${n}`, neg: n % 2 === 1 }),
    );
    // Use several commits and a new writer, because all of them must count the same values by name.
    await append(store, rows.slice(0, 200));
    await append(store, rows.slice(200));
    await place.close();
    const again = place.open();
    await append(again, [observed(5_000, { val: 'v3', neg: false }), observed(5_001, { val: 'v260', neg: false })]);
    const check = async () => {
      const counters = await countersOf(again);
      expect(counters?.values).toHaveLength(maxCountedValues);
      expect(counters?.values[0]).toEqual({ value: 'v3', applied: 1, removed: 1 });
      expect(counters?.others).toEqual({ applied: more / 2 + 1, removed: more / 2 });
      expect(await problems(again)).toEqual([]);
    };
    await check();
    await seal(again);
    await check();
  });

  it('are counted together if their text is too long', async () => {
    const store = place.open();
    const longest = 'é'.repeat(maxCountedValueBytes / 2);
    await append(store, [observed(1, { val: longest }), observed(2, { val: `${longest}x`, neg: false })]);
    expect(await countersOf(store)).toMatchObject({
      values: [{ value: longest }],
      others: { applied: 1, removed: 0 },
    });
    expect(await problems(store)).toEqual([]);
  });

  it('stay within the maximum number over several days, and the counts include every row', async () => {
    const store = place.open();
    for (let d = 0; d < 4; d++) {
      const rows = Array.from({ length: 250 }, (_, n) => observed(1_000 * d + n, { val: `v${d}-${n}`, neg: false }));
      await append(
        store,
        [...rows, observed(1_000 * d + 501, { val: 'every day', neg: false })],
        micros(noon + d * day),
      );
    }
    const [counters] = (await store.labelerCounters(whole)).labelers;
    expect(counters?.values).toHaveLength(maxCountedValues);
    expect(counters?.values[0]).toEqual({ value: 'every day', applied: 4, removed: 0 });
    const named = counters?.values.reduce((sum, { applied }) => sum + applied, 0) ?? 0;
    expect(named + (counters?.others.applied ?? 0)).toBe(4 * 251);
  });
});

describe('the delays of a labeler', () => {
  it('are counted by range for live rows, and a label dated in the future counts in the first range', async () => {
    const store = place.open();
    const last = delayBounds.length;
    const delays: [delay: number, range: number][] = [
      [-200_000, 0],
      [0, 0],
      [10, 0],
      [11, 1],
      [1_000, delayBounds.indexOf(1_000)],
      [1_001, delayBounds.indexOf(1_000) + 1],
      [220_000_000, last - 1],
      [220_000_001, last],
    ];
    const expected = Array.from({ length: last + 1 }, (_, i) => delays.filter(([, range]) => range === i).length);
    const rows = delays.map(([delay], n) => observed(n, {}, delay));
    const notCounted = [observed(100, {}), observed(101, { cts: 'yesterday' }, 5)];
    // Use one batch per row, because the rows of a batch have increasing stamps.
    for (const row of [...rows, ...notCounted]) await append(store, [row]);
    expect((await countersOf(store))?.delays).toEqual(expected);
    await seal(store);
    expect((await countersOf(store))?.delays).toEqual(expected);
  });

  it('yield the bound that a given fraction of the rows does not exceed', () => {
    const delays = delayBounds.map(() => 0);
    expect(delayQuantile(delays, 0.5)).toBeNull();
    delays[3] = 5;
    delays[7] = 4;
    expect([0, 0.5, 0.56, 0.9, 1].map((fraction) => delayQuantile(delays, fraction))).toEqual([33, 33, 150, 150, 150]);
    expect(delayQuantile([...delays, 90], 0.9)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('altered counters of a labeler', () => {
  const rows = Array.from({ length: 40 }, (_, n) =>
    observed(n, { val: `v${n % 3}`, src: labelers[n % 2] ?? '' }, n * 40),
  );

  /** Swaps the stored counters of two labelers, so that neither checksum is valid. */
  const swap =
    'UPDATE counter_labeler SET packed = (SELECT packed FROM counter_labeler c WHERE c.source <> counter_labeler.source)';

  async function repaired(): Promise<string[]> {
    const found: string[] = [];
    for await (const { day: report, repaired: texts } of repairStore({ folder: place.path })) {
      expect(report.problems).toEqual([]);
      found.push(...texts);
    }
    return found;
  }

  it.each([
    { form: 'open', name: today },
    { form: 'sealed', name: sealedToday },
  ])('are reported by verify, refused by readers, and recomputed by a repair ($form day)', async ({ form, name }) => {
    const store = place.open();
    await append(store, rows);
    if (form === 'sealed') await seal(store);
    const expected = await countersOf(store);
    await place.close();
    chmodSync(place.dayPath(name), 0o644);
    place.change(name, swap);
    const reader = openSqliteReader(place.path);
    await expect(reader.labelerCounters(whole)).rejects.toMatchObject({ code: 'damaged' });
    expect((await problems(reader)).join()).toMatch(/counter/);
    await reader.close();
    expect((await repaired()).join()).toMatch(/counter/);
    expect(await countersOf(place.open())).toEqual(expected);
  });

  it('are reported by verify in an open day even if their checksum is valid', async () => {
    const store = place.open();
    await append(store, rows);
    const before = new Database(place.dayPath(today))
      .prepare('SELECT packed FROM counter_labeler WHERE source = 1')
      .pluck()
      .get();
    await append(store, [{ ...observed(500, { val: 'late', neg: true }, 60_000), signature: 'invalid' }]);
    await place.close();
    const db = new Database(place.dayPath(today));
    db.prepare('UPDATE counter_labeler SET packed = ? WHERE source = 1').run(before);
    db.close();
    const found = await problems(place.open());
    expect(found.map((text) => text.replace(/.* for /, ''))).toEqual([
      'invalid signatures has 0, but the rows have 1',
      'other values has 0 applied and 0 removed, but the rows have 0 applied and 1 removed',
      'the delay range 23 has 0, but the rows have 1',
    ]);
    await place.close();
    expect(await repaired()).toHaveLength(3);
  });
});

describe('a store of an earlier version', () => {
  it('counts labelers from the upgrade onwards, and states the start of counting', async () => {
    writeEarlierStore(place.path);
    const upgrade = micros(noon + 5 * day);
    const before = openSqliteReader(place.path);
    expect(await before.labelerCounters(whole)).toEqual({ since: whole.end, labelers: [] });
    const store = place.open({ at: upgrade });
    const rows = [observed(1, { val: 'new' }, 5), observed(2, { val: 'new', neg: false }, 5)];
    const at = micros(upgrade + 1_000_000);
    await append(store, rows, at);
    const { end } = await store.frontier();
    const counted = await store.labelerCounters(whole);
    expect(counted.labelers).toMatchObject([{ labeler: mod, values: [{ value: 'new' }] }]);
    // Counting begins after the last row before the upgrade, which is the twelfth row of its batch.
    expect(counted.since).toBe(upgrade + 12);
    expect(counted.since).toBeLessThan(end - 1);
    expect(await before.labelerCounters(whole)).toEqual(counted);
    await before.close();
    const next = micros(upgrade + day);
    await append(store, [observed(3, { val: 'new' })], next);
    const following = await store.labelerCounters({ start: dayStart(20_006), end: dayStart(20_007) });
    expect(following).toMatchObject({ since: dayStart(20_006), labelers: [{ labeler: mod }] });
    expect(await problems(store)).toEqual([]);
  });

  it('keeps its counters and the start of counting when days are sealed, purged and repaired', async () => {
    writeEarlierStore(place.path);
    const upgrade = micros(noon + 5 * day);
    const store = place.open({ at: upgrade });
    await append(store, [observed(1, { val: 'new' }, 5), observed(2, { src: other }, 5)], micros(upgrade + day / 4));
    const counted = await store.labelerCounters(whole);
    const muchLater = micros(upgrade + 4 * day);
    await append(store, [observed(3, { src: other })], muchLater);
    // One of these days was written only by a version that does not count labelers.
    expect((await store.maintain(muchLater)).sealed).toEqual(['2024-10-08', '2024-10-09']);
    expect(await store.labelerCounters(whole)).toEqual(counted);
    await store.requestPurge({ source: other, at: muchLater });
    while (await store.purge(muchLater));
    const purged = { ...counted, labelers: counted.labelers.filter(({ labeler }) => labeler === mod) };
    expect(await store.labelerCounters(whole)).toEqual(purged);
    expect(await problems(store)).toEqual([]);
    await place.close();
    for (const name of ['2024-10-08', '2024-10-09'].map((of) => `${of}.sealed.sqlite`)) {
      chmodSync(place.dayPath(name), 0o644);
      place.change(name, 'UPDATE counter_hour SET applied = applied + 1');
    }
    for await (const { day: report } of repairStore({ folder: place.path })) expect(report.problems).toEqual([]);
    expect(await place.open({ at: muchLater }).labelerCounters(whole)).toEqual(purged);
  });
});

it('counters of labelers are refused for an interval that begins before the floor', async () => {
  await expect(place.open().labelerCounters({ start, end: whole.end })).rejects.toMatchObject({
    code: 'out_of_window',
  });
});

/** Counts the turns of the event loop until `end` is called. */
function countTurns() {
  let turn = 0;
  let timer = setImmediate(function next() {
    turn += 1;
    timer = setImmediate(next);
  });
  return { now: () => turn, end: () => clearImmediate(timer) };
}

it('the counters of days that no longer change are read only once', async () => {
  const store = place.open();
  for (let d = 0; d < 5; d++) await append(store, [observed(d, {})], micros(noon + d * day));
  const read = vi.spyOn(StoredLabelerCounters.prototype, 'packed');
  try {
    const first = await store.labelerCounters(whole);
    expect(first.labelers).toMatchObject([{ labeler: mod, verdicts: { verified: 5 } }]);
    expect(read).toHaveBeenCalledTimes(5);
    expect(await store.labelerCounters(whole)).toEqual(first);
    expect(read).toHaveBeenCalledTimes(6);
  } finally {
    read.mockRestore();
  }
});

it('the counters of a day with many labelers are read in several turns if reading them takes long', async () => {
  const store = place.open();
  const labelers = Array.from({ length: 130 }, (_, i) => `did:web:labeler-${i}.example`);
  const rows = labelers.map((src, i) => observed(i, { src }));
  await append(store, rows, micros(noon));
  await append(store, [observed(999, {})], micros(noon + day));
  const turns = countTurns();
  const unpacked = new Map<number, number>();
  const unpack = StoredLabelerCounters.prototype.unpacked;
  const reading = vi.spyOn(StoredLabelerCounters.prototype, 'unpacked').mockImplementation(function unpackedIn(
    this: StoredLabelerCounters,
    source,
    packed,
  ) {
    unpacked.set(turns.now(), (unpacked.get(turns.now()) ?? 0) + 1);
    return unpack.call(this, source, packed);
  });
  let elapsedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    elapsedMs += 10;
    return elapsedMs;
  });
  try {
    const { labelers: counted } = await store.labelerCounters(whole);
    expect(counted).toHaveLength(131);
    expect(counted.filter(({ verdicts }) => verdicts.verified === 1)).toHaveLength(131);
    expect(unpacked.size).toBeGreaterThanOrEqual(3);
    expect(Math.max(...unpacked.values())).toBeLessThanOrEqual(51);
  } finally {
    clock.mockRestore();
    reading.mockRestore();
    turns.end();
  }
});
