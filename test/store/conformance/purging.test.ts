import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { labelers, labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { groupsOf } from '../../../harness/conformance/model.ts';
import { kinds, later, problems, useStore } from '../../../harness/conformance/suite.ts';
import { everyRow } from '../../../harness/store/scan.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import type { Batch, Observation, StoreReader, StoreWriter } from '../../../src/store/port.ts';
import { day, dayStart, micros } from '../../../src/store/time.ts';

const [mod = '', other = ''] = labelers;
const [alice = ''] = subjects;
const now = later(noon, 4 * day);
const all = { start: noon, end: later(noon, 6 * day) };

/**
 * Returns the batch for one of five days, with rows of every labeler and several rows about hot accounts. The first two
 * days can be sealed.
 */
function dayBatch(d: number): Batch {
  const labels = [
    ...Array.from({ length: 60 }, (_, i) => labelNumber(1_000 * d + i)),
    ...Array.from({ length: 150 }, (_, i) =>
      labelNumber(1_000 * d + 200 + i, { uri: alice, src: i % 3 === 0 ? other : mod, neg: i % 5 === 0 }),
    ),
    // No other labeler has labels with this value.
    labelNumber(1_000 * d + 500, { src: mod, val: 'only-of-mod' }),
  ];
  return {
    at: later(noon, d * day),
    observations: labels.map((label, i) => ({ ...observationOf(label), live: i % 2 === 0 })),
    refusals: [
      { source: mod, reason: 'late', count: 3 },
      { source: other, reason: 'late', count: 2 },
    ],
    positions: [
      { source: mod, endpoint: 'wss://mod.example', value: String(d) },
      { source: other, endpoint: 'wss://other.example', value: String(d) },
    ],
  };
}

async function fill(store: StoreWriter): Promise<void> {
  for (let d = 0; d < 5; d++) await store.append(dayBatch(d));
  expect((await store.maintain(now)).sealed).toEqual(['2024-10-04', '2024-10-05']);
}

async function purgeAll(store: StoreWriter, at: Micros = now): Promise<void> {
  while (await store.purge(at));
}

/** Returns the results of all queries about rows. */
async function queryResults(store: StoreReader) {
  const tally = (account: string) => store.tallyAccount({ account, ...all, budget: 100_000 });
  return {
    rows: await everyRow(store, all),
    counts: await store.countsByLabeler(all),
    part: await store.countsByLabeler({ start: later(noon, 1), end: later(noon, 3 * day + 777) }),
    hours: await store.countsOverTime({ start: noon, end: micros(noon + 5 * day), bucket: 'hour' }),
    refusals: await store.refusals(all),
    labelers: await store.labelerCounters(all),
    tallies: await Promise.all(subjects.map(tally)),
  };
}

/**
 * Returns the results that all queries about rows must have after the purge of a source, computed by leaving out its
 * rows.
 */
async function without(store: StoreReader, source: string) {
  const before = await queryResults(store);
  const rows = before.rows.filter(({ label }) => label.src !== source);
  const isOther = ({ labeler }: { labeler: string }) => labeler !== source;
  return {
    rows,
    counts: before.counts.filter(isOther),
    part: before.part.filter(isOther),
    hours: before.hours.filter(isOther),
    refusals: before.refusals.filter((refusal) => refusal.source !== source),
    labelers: { ...before.labelers, labelers: before.labelers.labelers.filter(isOther) },
    tallies: before.tallies.map((tally, i) => ({
      days: tally.days.map(({ start, end }) => ({ start, end, counts: countsOf(rows, subjects[i] ?? '', start, end) })),
      labelers: tally.labelers.filter(isOther),
      values: valuesOf(rows, subjects[i] ?? ''),
      groups: groupsOf(rows.filter((row) => isAbout(row, subjects[i] ?? ''))),
    })),
  };
}

function isAbout({ label }: Observation, account: string): boolean {
  return label.uri === account || label.uri.startsWith(`at://${account}/`);
}

function countsOf(rows: readonly Observation[], account: string, start: number, end: number) {
  const counts = { rows: 0, account: [0, 0], post: [0, 0], record: [0, 0] } as Record<string, number | number[]> & {
    rows: number;
  };
  for (const row of rows) {
    if (!isAbout(row, account) || row.observedAt < start || row.observedAt >= end) continue;
    const sums = counts[row.label.uri === account ? 'account' : 'post'] as number[];
    sums[row.label.neg ? 1 : 0] = (sums[row.label.neg ? 1 : 0] ?? 0) + 1;
    counts.rows += 1;
  }
  const event = (kind: string) => {
    const [applied, removed] = counts[kind] as number[];
    return { applied, removed };
  };
  return { rows: counts.rows, account: event('account'), post: event('post'), record: event('record') };
}

function valuesOf(rows: readonly Observation[], account: string) {
  const sums = new Map<string, { value: string; applied: number; removed: number }>();
  for (const row of rows) {
    if (!isAbout(row, account)) continue;
    const { val: value, neg } = row.label;
    const sum = sums.get(value) ?? { value, applied: 0, removed: 0 };
    sums.set(value, neg ? { ...sum, removed: sum.removed + 1 } : { ...sum, applied: sum.applied + 1 });
  }
  return [...sums.values()].sort(
    (a, b) => b.applied + b.removed - (a.applied + a.removed) || (a.value < b.value ? -1 : 1),
  );
}

describe.each(kinds)('ending reads in a $name store', (kind) => {
  const on = useStore(kind);

  it('raises the revision above every revision that a reader has seen, including one that the store has lost', async () => {
    await on.store.endReads(0);
    expect((await on.store.frontier()).revision).toBe(1);
    await on.store.endReads(7);
    await on.reopen();
    expect((await on.store.frontier()).revision).toBe(8);
  });
});

describe.each(kinds)('purging a source in a $name store', (kind) => {
  const on = useStore(kind);

  it("removes the source's rows from every result, in sealed and open days, and does not change other rows", async () => {
    await fill(on.store);
    const expected = await without(on.store, mod);
    const positions = await on.store.positions();
    const reader = await on.place.read();
    expect((await queryResults(reader)).rows.length).toBeGreaterThan(expected.rows.length);
    expect(await on.store.requestPurge({ source: mod, at: now })).toBe(true);
    await purgeAll(on.store);
    for (const store of [on.store, reader]) {
      expect(await queryResults(store)).toEqual(expected);
      expect(await problems(store)).toEqual([]);
    }
    await reader.close();
    await on.reopen(now);
    expect(await queryResults(on.store)).toEqual(expected);
    expect(await on.store.positions()).toEqual(positions);
    // Days that are sealed later do not contain rows of the source either.
    await on.store.append(dayBatch(6));
    expect((await on.store.maintain(later(noon, 6 * day))).sealed).toEqual(['2024-10-06', '2024-10-07']);
    expect(await problems(on.store)).toEqual([]);
    expect((await queryResults(on.store)).rows).toEqual(expected.rows);
  });

  it('reports its progress, records a gap for the retained time, and is no longer listed once the floor is after its completion', async () => {
    await on.reopen(noon, { windowDays: 3 });
    await fill(on.store);
    expect(await on.store.purges()).toEqual([]);
    await on.store.requestPurge({ source: mod, at: now });
    const { floor, end } = await on.store.frontier();
    const gap = { source: mod, start: floor, end, reason: 'maintenance' };
    expect(await on.store.gaps({ ...all, source: mod })).toEqual([gap]);
    const request = { source: mod, requestedAt: now };
    expect(await on.store.purges()).toEqual([{ ...request, completedAt: null, rows: 0, daysLeft: 5 }]);
    expect(await on.store.purge(now)).toBe(true);
    expect(await on.store.purges()).toEqual([{ ...request, completedAt: null, rows: 121, daysLeft: 4 }]);
    await on.reopen(now, { windowDays: 3 });
    await purgeAll(on.store);
    const completed = [{ ...request, completedAt: now, rows: 605, daysLeft: 0 }];
    expect(await on.store.purges()).toEqual(completed);
    expect(await on.store.purge(now)).toBe(false);
    for (let d = 5; d < 12; d++) await on.store.append(dayBatch(d));
    while ((await on.store.maintain(later(noon, 11 * day))).expired.length > 0);
    expect(await on.store.purges()).toEqual([]);
  });

  it('records a gap that covers every removed row, including rows that were accepted after the request', async () => {
    await on.store.append(dayBatch(0));
    await on.store.requestPurge({ source: mod, at: later(noon, 1) });
    const { floor, end } = await on.store.frontier();
    const gap = { source: mod, start: floor, end, reason: 'maintenance' };
    expect(await on.store.gaps({ ...all, source: mod })).toEqual([gap]);
    await purgeAll(on.store);
    expect(await on.store.purges()).toMatchObject([{ requestedAt: noon + 1, rows: 121 }]);
    expect(await on.store.gaps({ ...all, source: mod })).toEqual([gap]);
  });

  it('is requested only once for the same time, and can be requested again for a later time', async () => {
    await on.store.append(dayBatch(0));
    const request = { source: mod, at: later(noon, day) };
    expect(await on.store.requestPurge({ source: mod, at: noon })).toBe(false);
    expect(await on.store.requestPurge(request)).toBe(true);
    expect(await on.store.requestPurge(request)).toBe(false);
    await purgeAll(on.store);
    expect(await on.store.requestPurge(request)).toBe(false);
    await on.store.append(dayBatch(2));
    expect((await on.store.countsByLabeler(all)).some(({ labeler }) => labeler === mod)).toBe(true);
    expect(await on.store.requestPurge({ ...request, at: later(noon, 2 * day + 9) })).toBe(true);
    await purgeAll(on.store);
    expect((await on.store.countsByLabeler(all)).some(({ labeler }) => labeler === mod)).toBe(false);
    expect(await on.store.purges()).toMatchObject([{ rows: 242, daysLeft: 0 }]);
  });

  it('increases the revision with every purged day, unlike append and maintain', async () => {
    const revision = async () => (await on.store.frontier()).revision;
    await fill(on.store);
    expect(await revision()).toBe(0);
    await on.store.requestPurge({ source: mod, at: now });
    const seen = [await revision()];
    while (await on.store.purge(now)) seen.push(await revision());
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    const end = await revision();
    await on.reopen(now);
    await on.store.append(dayBatch(5));
    await on.store.maintain(later(noon, 5 * day));
    expect(await revision()).toBe(end);
  });

  it('allows the same labels to be accepted again, with new stamps', async () => {
    await on.store.append(dayBatch(0));
    const { end } = await on.store.frontier();
    await on.store.requestPurge({ source: mod, at: later(noon, day) });
    await purgeAll(on.store);
    for (const reopened of [false, true]) {
      if (reopened) {
        await on.store.requestPurge({ source: mod, at: later(noon, day + 1) });
        await purgeAll(on.store);
        await on.reopen(later(noon, day));
      }
      const { observations } = dayBatch(0);
      const result = await on.store.append({ ...dayBatch(0), at: later(noon, day / 4) });
      expect([result.accepted, result.duplicates.length]).toEqual([121, observations.length - 121]);
      expect(result.first).toBeGreaterThanOrEqual(end);
      expect(await problems(on.store)).toEqual([]);
    }
  });

  it('ends without a change if the source has no rows', async () => {
    await fill(on.store);
    const before = await queryResults(on.store);
    await on.store.requestPurge({ source: 'did:web:unknown.example', at: now });
    await purgeAll(on.store);
    expect(await queryResults(on.store)).toEqual(before);
    expect(await on.store.purges()).toMatchObject([{ rows: 0, completedAt: now }]);
  });

  it('runs concurrently with append, and makes sealing wait', async () => {
    await on.reopen(noon, { windowDays: 3 });
    await on.store.append({ ...dayBatch(0), observations: [observationOf(labelNumber(0, { src: other }))] });
    for (let d = 1; d <= 5; d++) await on.store.append(dayBatch(d));
    const at = later(noon, 5 * day);
    const { floor } = await on.store.frontier();
    await on.store.requestPurge({ source: mod, at });
    // The first run skips the oldest day, which contains no rows of the source.
    expect(await on.store.purge(at)).toBe(true);
    let isPurging = true;
    const purging = on.store.purge(at).finally(() => {
      isPurging = false;
    });
    const upkeep = on.store.maintain(at);
    const more = { ...dayBatch(5), observations: [observationOf(labelNumber(9_001, { src: other }))] };
    const appended = on.store.append(more);
    // Upkeep would first drop an expired day, which raises the floor, so an unchanged floor shows that upkeep waits.
    while (isPurging) {
      const seen = await on.store.frontier();
      if (isPurging) expect(seen.floor).toBe(floor);
      await nextTurn();
    }
    expect(await purging).toBe(true);
    expect((await appended).accepted).toBe(1);
    expect(await upkeep).toEqual({ sealed: ['2024-10-05', '2024-10-06'], postponed: [], expired: ['2024-10-04'] });
    await purgeAll(on.store, at);
    expect(await problems(on.store)).toEqual([]);
    const rows = await everyRow(on.store, { start: dayStart(20_001), end: all.end });
    expect(rows.filter(({ label }) => label.src === mod)).toEqual([]);
    expect(rows.filter(({ label }) => label.src === other)).not.toEqual([]);
  });

  it('is refused after the store is closed', async () => {
    await on.store.close();
    await expect(on.store.purge(now)).rejects.toMatchObject({ code: 'closed' });
    await expect(on.store.requestPurge({ source: mod, at: now })).rejects.toMatchObject({ code: 'closed' });
  });
});
