import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Micros } from '../../src/contract/timestamp.ts';
import {
  type Batch,
  maxBatchRows,
  type Observation,
  type StoreReader,
  type StoreWriter,
} from '../../src/store/port.ts';
import { scanAccount } from '../../src/store/scan.ts';
import { day, dayStart, hour, type Interval, micros, minute, second } from '../../src/store/time.ts';
import { anyLabel, labelers, labelNumber, noon, observationOf, subjects } from './labels.ts';
import { StoreModel } from './model.ts';
import { sqliteKind } from './sqlite-kind.ts';
import type { StorePlace } from './subject.ts';

const [alice = '', bob = ''] = subjects;
const [mod = '', other = ''] = labelers;

describe.each([sqliteKind])('a store over $name', (kind) => {
  let place: StorePlace;
  let store: StoreWriter;
  beforeEach(async () => {
    place = await kind.place();
    store = await place.write(noon);
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  async function reopen(at: Micros = noon): Promise<void> {
    await store.close();
    store = await place.write(at);
  }

  describe('appending', () => {
    it('stamps rows in order, one microsecond apart, from the clock or the last stamp on', async () => {
      const first = await store.append(batch(noon, [0, 1, 2]));
      const second = await store.append(batch(noon, [3]));
      const third = await store.append(batch(later(noon, minute), [4]));
      expect([first, second, third]).toEqual([
        { accepted: 3, duplicates: [], first: noon, last: noon + 2 },
        { accepted: 1, duplicates: [], first: noon + 3, last: noon + 3 },
        { accepted: 1, duplicates: [], first: noon + minute, last: noon + minute },
      ]);
    });

    it('keeps every label as it was received', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyLabel, { minLength: 1, maxLength: 20 }), async (labels) => {
          const { first, last, duplicates } = await store.append({
            ...batch(noon, []),
            observations: labels.map(observationOf),
          });
          const kept = labels.filter((_, i) => !duplicates.includes(i));
          if (first === null || last === null) return expect(kept).toEqual([]);
          const rows = await everyRow(store, { start: first, end: later(last, 1) });
          expect(rows.map((row) => row.label)).toEqual(kept);
        }),
        { numRuns: 60 },
      );
    });

    it('keeps a signature of plain bytes, and a uri of 8 KB', async () => {
      const label = labelNumber(1, { sig: new Uint8Array([1, 2, 3]), uri: `at://${alice}/a.b.c/${'x'.repeat(8_000)}` });
      await store.append({ ...batch(noon, []), observations: [observationOf(label)] });
      const [row] = await everyRow(store, around(noon));
      expect(row?.label).toEqual({ ...label, sig: Buffer.from([1, 2, 3]) });
    });

    it('stores a label once, whatever its signature, its version or the way neg was left out', async () => {
      await store.append(batch(noon, [1]));
      const { neg: _, ...unsaid } = labelNumber(1);
      const again = [
        labelNumber(1, { sig: Buffer.alloc(64, 9) }),
        labelNumber(1, { ver: 2 }),
        { ...unsaid, neg: false },
      ];
      const result = await store.append({
        ...batch(noon, []),
        observations: [...again, labelNumber(2)].map(observationOf),
      });
      expect(result).toEqual({ accepted: 1, duplicates: [0, 1, 2], first: noon + 1, last: noon + 1 });
      expect(await store.refusals(around(noon))).toEqual([
        { source: labelNumber(1).src, reason: 'duplicate', count: 3 },
      ]);
    });

    it('tells a duplicate within one batch', async () => {
      const result = await store.append(batch(noon, [1, 1, 2, 1]));
      expect(result).toMatchObject({ accepted: 2, duplicates: [1, 3] });
    });

    it('takes labels that differ in any field of the identity for two', async () => {
      const changes = [
        {},
        { cid: 'x' },
        { neg: true },
        { cts: noonText(1) },
        { exp: noonText(2) },
        { val: 'y' },
        { uri: bob },
      ];
      const labels = changes.map((change) => observationOf({ ...labelNumber(4), ...change }));
      expect(await store.append({ ...batch(noon, []), observations: labels })).toMatchObject({
        accepted: 7,
        duplicates: [],
      });
    });

    it('knows a duplicate after a restart and over midnight, for 48 h 05 m', async () => {
      await store.append(batch(noon, [1]));
      await store.append(batch(later(noon, day), [2]));
      const late = later(noon, 48 * hour + 4 * minute);
      await reopen(late);
      expect(await store.append(batch(late, [1, 2, 3]))).toMatchObject({ accepted: 1, duplicates: [0, 1] });
    });

    it('takes a label of long ago for a new one, six hours after the horizon at the latest', async () => {
      await store.append(batch(noon, [1]));
      const late = later(noon, 55 * hour);
      await store.append(batch(late, [2]));
      expect(await store.append(batch(late, [1]))).toMatchObject({ accepted: 1, duplicates: [] });
    });

    it('stamps a batch that would cross midnight from midnight on', async () => {
      const midnight = dayStart(20_001);
      const result = await store.append(batch(micros(midnight - 2), [0, 1, 2]));
      expect(result).toEqual({ accepted: 3, duplicates: [], first: midnight, last: midnight + 2 });
      const fits = await store.append(batch(micros(midnight + 1), [3]));
      expect(fits.first).toBe(midnight + 3);
    });

    it('goes on from the last stamp when the clock steps back a little, and refuses beyond 5 s', async () => {
      await store.append(batch(later(noon, 10 * second), [1]));
      expect((await store.append(batch(later(noon, 6 * second), [2]))).first).toBe(noon + 10 * second + 1);
      await expect(store.append(batch(later(noon, 4 * second), [3]))).rejects.toMatchObject({
        code: 'clock_behind',
        retry: true,
      });
      expect(await store.append(batch(later(noon, 11 * second), [3]))).toMatchObject({ accepted: 1 });
    });

    it.each([
      ['a label about a handle', { ...labelNumber(1), uri: 'at://alice.example/app.bsky.feed.post/1' }],
      ['a label about nothing', { ...labelNumber(1), uri: 'https://alice.example' }],
      ['a label with half a character', { ...labelNumber(1), val: 'x\ud800' }],
      ['a label whose version is no integer', { ...labelNumber(1), ver: 1.5 }],
      ['a label of 17 KB', { ...labelNumber(1), extra: new Uint8Array(17 * 1024) }],
    ])('refuses %s and stores none of its batch', async (_, label) => {
      const observations = [observationOf(labelNumber(5)), observationOf(label)];
      await expect(store.append({ ...batch(noon, []), observations })).rejects.toMatchObject({
        code: 'invalid_observation',
      });
      expect(await everyRow(store, around(noon))).toEqual([]);
    });

    it('refuses a batch beyond its bounds', async () => {
      const many = Array.from({ length: maxBatchRows + 1 }, (_, i) => i);
      await expect(store.append(batch(noon, many))).rejects.toMatchObject({ code: 'batch_too_large' });
      const long = [{ source: mod, endpoint: 'wss://mod.example', value: 'x'.repeat(5_000) }];
      await expect(store.append({ ...batch(noon, []), positions: long })).rejects.toMatchObject({
        code: 'batch_too_large',
      });
    });
  });

  describe('positions', () => {
    const at = (source: string, value: string | null, endpoint = 'https://a.example') => ({ source, endpoint, value });

    it('are kept by source and endpoint, and forgotten with null', async () => {
      await store.append({
        ...batch(noon, [1]),
        positions: [at(mod, '5'), at(mod, '7', 'https://b.example'), at(other, '1')],
      });
      await store.append({ ...batch(later(noon, 9), []), positions: [at(mod, '6'), at(other, null)] });
      expect(await store.positions()).toEqual([
        { ...at(mod, '6'), acceptedAt: noon + 9 },
        { ...at(mod, '7', 'https://b.example'), acceptedAt: noon },
      ]);
    });

    it('are carried over midnight and a restart, with the instant of acceptance', async () => {
      await store.append({ ...batch(noon, [1]), positions: [at(mod, '5'), at(other, '2')] });
      await store.append({ ...batch(later(noon, 3 * day), [2]), positions: [at(other, '3')] });
      await reopen(later(noon, 4 * day));
      expect(await store.positions()).toEqual([
        { ...at(other, '3'), acceptedAt: noon + 3 * day },
        { ...at(mod, '5'), acceptedAt: noon },
      ]);
    });

    it('do not move when their batch is refused', async () => {
      await store.append({ ...batch(noon, [1]), positions: [at(mod, '5')] });
      const bad = { ...labelNumber(2), uri: 'nothing' };
      await store
        .append({ ...batch(noon, []), observations: [observationOf(bad)], positions: [at(mod, '6')] })
        .catch(() => {});
      expect(await store.positions()).toEqual([{ ...at(mod, '5'), acceptedAt: noon }]);
    });
  });

  describe('the frontier', () => {
    it('begins and ends at the epoch in an empty store', async () => {
      const { generationId, startedAt } = await store.epoch();
      expect(await store.frontier()).toEqual({ generationId, floor: noon, end: noon, observedThrough: null });
      expect(startedAt).toBe(noon);
      expect(generationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    });

    it('keeps its epoch over restarts', async () => {
      const epoch = await store.epoch();
      await reopen(later(noon, day));
      expect(await store.epoch()).toEqual(epoch);
    });

    it('ends after the last row and is observed through the last batch, rows or none', async () => {
      await store.append(batch(noon, [1, 2]));
      await store.append(batch(later(noon, hour), []));
      expect(await store.frontier()).toMatchObject({ end: noon + 2, observedThrough: noon + hour });
      await reopen(later(noon, 2 * hour));
      expect(await store.frontier()).toMatchObject({ end: noon + 2, observedThrough: noon + hour });
    });
  });

  describe('reading an account', () => {
    it('finds labels of the account and of its records together, and nobody else’s', async () => {
      const uris = [alice, `at://${alice}/app.bsky.feed.post/3l`, `at://${alice}`, bob, `at://${bob}/a.b.c/${alice}`];
      const observations = uris.map((uri, i) => observationOf(labelNumber(i, { uri })));
      await store.append({ ...batch(noon, []), observations });
      const chunk = await store.readAccount({
        account: alice,
        ...around(noon),
        order: 'oldest',
        after: null,
        limit: 500,
      });
      expect(chunk.rows.map((row) => row.label.uri)).toEqual(uris.slice(0, 3));
      expect(chunk.next).toBeNull();
    });

    it('refuses an interval that begins before the floor, even by a microsecond', async () => {
      const query = { account: alice, order: 'oldest', after: null, limit: 1, end: later(noon, 1) } as const;
      await expect(store.readAccount({ ...query, start: micros(noon - 1) })).rejects.toMatchObject({
        code: 'out_of_window',
      });
      await expect(store.readAccount({ ...query, start: noon })).resolves.toEqual({ rows: [], next: null });
    });

    it.each([[0], [501], [1.5]])('refuses a chunk of %s rows', async (limit) => {
      const query = { account: alice, ...around(noon), order: 'oldest', after: null, limit } as const;
      await expect(store.readAccount(query)).rejects.toMatchObject({ code: 'invalid_query' });
    });

    it('stops a scan beyond its budget', async () => {
      await store.append(batch(noon, [0, 4, 8]));
      const query = { account: alice, ...around(noon), order: 'oldest' } as const;
      expect(await collect(scanAccount(store, query, 3))).toHaveLength(3);
      await expect(collect(scanAccount(store, query, 2))).rejects.toMatchObject({ code: 'budget_exceeded' });
      await expect(store.accountIntervals({ ...query, maxRows: 9, budget: 2 })).rejects.toMatchObject({
        code: 'budget_exceeded',
      });
    });
  });

  describe('against a model', () => {
    it('agrees on rows, chunks, intervals, counts, refusals and positions, sealed or not, over midnights', async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.array(question, { minLength: 4, maxLength: 4 }), async (steps, questions) => {
          const own = await kind.place();
          const subject = await own.write(noon);
          try {
            await agree(subject, steps, questions);
          } finally {
            await subject.close();
            await own.remove();
          }
        }),
        { numRuns: 120 },
      );
    });
  });

  describe('keeping the window', () => {
    it('seals days that can hold no more duplicates, and reads them as before', async () => {
      for (let d = 0; d < 5; d++) await store.append(batch(later(noon, d * day), [d * 4, d * 4 + 1]));
      const before = await everyRow(store, { start: noon, end: later(noon, 5 * day) });
      const { sealed, expired } = await store.maintain(later(noon, 4 * day));
      expect({ sealed, expired }).toEqual({ sealed: ['2024-10-04', '2024-10-05'], expired: [] });
      expect(await everyRow(store, { start: noon, end: later(noon, 5 * day) })).toEqual(before);
      expect(await problems(store)).toEqual([]);
      await reopen(later(noon, 4 * day));
      expect(await everyRow(store, { start: noon, end: later(noon, 5 * day) })).toEqual(before);
    });

    it('seals by the last stamp: a clock that jumped ahead closes nothing', async () => {
      await store.append(batch(noon, [1]));
      await store.append(batch(later(noon, day), [2]));
      expect(await store.maintain(later(noon, 20 * day))).toEqual({ sealed: [], postponed: [], expired: [] });
    });

    it('drops one day a run beyond the window and a day, and refuses what begins before', async () => {
      await store.close();
      store = await place.write(noon, { windowDays: 2 });
      for (let d = 0; d < 7; d++) await store.append(batch(later(noon, d * day), [d]));
      const now = later(noon, 6 * day);
      expect((await store.maintain(now)).expired).toEqual(['2024-10-04']);
      expect((await store.maintain(now)).expired).toEqual(['2024-10-05']);
      expect((await store.maintain(now)).expired).toEqual(['2024-10-06']);
      expect((await store.maintain(now)).expired).toEqual([]);
      expect(await store.frontier()).toMatchObject({ floor: dayStart(20_003) });
      await expect(store.countsByLabeler({ start: noon, end: now })).rejects.toMatchObject({ code: 'out_of_window' });
      expect(await everyRow(store, { start: dayStart(20_003), end: later(now, 9) })).toHaveLength(4);
    });

    it('keeps the newest day, which carries the positions, however old', async () => {
      await store.append({ ...batch(noon, [1]), positions: [{ source: mod, endpoint: 'e', value: '1' }] });
      expect(await store.maintain(later(noon, 90 * day))).toEqual({ sealed: [], postponed: [], expired: [] });
      await store.append(batch(later(noon, 90 * day), [2]));
      expect(await store.positions()).toMatchObject([{ source: mod, value: '1' }]);
    });

    it('does not go back to a day that it sealed', async () => {
      await store.append(batch(noon, [1]));
      await store.append(batch(later(noon, 4 * day), [2]));
      await store.maintain(later(noon, 4 * day));
      await expect(store.append(batch(later(noon, minute), [3]))).rejects.toMatchObject({ code: 'clock_behind' });
    });
  });

  describe('gaps', () => {
    const gap = (source: string | null, start: number, end: number, reason = 'source_unavailable' as const) => ({
      source,
      start: later(noon, start),
      end: later(noon, end),
      reason,
    });

    it('of one source and reason become one where they touch, and an outage under way grows', async () => {
      for (const end of [2, 4, 6]) await store.recordGap(gap(mod, 1, end));
      await store.recordGap(gap(mod, 6, 7));
      await store.recordGap(gap(mod, 9, 10));
      await store.recordGap(gap(other, 1, 2));
      const wide = { start: noon, end: later(noon, 100) };
      expect(await store.gaps({ ...wide, source: mod })).toEqual([gap(mod, 1, 7), gap(mod, 9, 10)]);
      expect(await store.gaps(wide)).toHaveLength(3);
    });

    it('are clipped to the interval, and survive a restart', async () => {
      await store.recordGap(gap(mod, 1, 50));
      await reopen();
      expect(await store.gaps({ start: later(noon, 10), end: later(noon, 20) })).toEqual([gap(mod, 10, 20)]);
      expect(await store.gaps({ start: later(noon, 50), end: later(noon, 60) })).toEqual([]);
    });

    it('are told by labeler, our own interruptions counting for each', async () => {
      await store.recordGap(gap(null, 10, 20));
      await store.recordGap(gap(mod, 15, 40));
      const interval = { start: noon, end: later(noon, 30) };
      expect(await store.coverage({ ...interval, labelers: [mod, other] })).toEqual([
        { labeler: mod, gaps: [gap(null, 10, 20), gap(mod, 15, 30)], gapped: 20 },
        { labeler: other, gaps: [gap(null, 10, 20)], gapped: 10 },
      ]);
    });

    it('are bounded for each source: the nearest become one unknown gap, and nothing is hidden', async () => {
      for (let i = 0; i < 600; i++) await store.recordGap(gap(mod, i * 10, i * 10 + 5));
      const kept = await store.gaps({ start: noon, end: later(noon, 6_000), source: mod });
      expect(kept).toHaveLength(512);
      for (let i = 0; i < 600; i++) {
        expect(kept.some(({ start, end }) => start <= noon + i * 10 && end >= noon + i * 10 + 5)).toBe(true);
      }
    });

    it('must end after they start', async () => {
      await expect(store.recordGap(gap(mod, 5, 5))).rejects.toMatchObject({ code: 'invalid_query' });
    });
  });

  describe('what the instrument keeps beside the rows', () => {
    it('a heartbeat that never moves back', async () => {
      expect(await store.heartbeat()).toBeNull();
      await store.beat(later(noon, 10));
      await store.beat(noon);
      await reopen();
      expect(await store.heartbeat()).toBe(noon + 10);
    });

    it('roster rows, replaced whole', async () => {
      const row = {
        did: mod,
        origin: 'seeded',
        provenance: ['seeds'],
        enrolled: false,
        endpoint: null,
        state: 'unstarted',
        stateSince: noon,
        detail: '{}',
      } as const;
      await store.putRoster([row, { ...row, did: other }]);
      const enrolled = { ...row, enrolled: true, endpoint: 'https://mod.example', state: 'probing' };
      await store.putRoster([enrolled]);
      await reopen();
      expect(await store.roster()).toEqual([{ ...row, did: other }, enrolled].sort((a, b) => (a.did < b.did ? -1 : 1)));
    });

    it('the history of keys', async () => {
      const key = (name: string, first: number, last: number) => ({
        did: mod,
        key: name,
        firstSeen: later(noon, first),
        lastSeen: later(noon, last),
      });
      await store.putKey(key('zA', 0, 0));
      await store.putKey(key('zB', 5, 5));
      await store.putKey(key('zA', 3, 3));
      expect(await store.keys(mod)).toEqual([key('zA', 0, 3), key('zB', 5, 5)]);
      for (let i = 0; i < 70; i++) await store.putKey(key(`z${i}`, 10 + i, 10 + i));
      expect((await store.keys(mod)).map(({ key: name }) => name)).toEqual(
        Array.from({ length: 64 }, (_, i) => `z${i + 6}`),
      );
    });

    it('revisions of definitions: equal ones once, the newest 16', async () => {
      const revision = (n: number) => ({ did: mod, seenAt: later(noon, n), content: `{"n":${n}}` });
      expect(await store.putDefinitions(revision(0))).toBe(true);
      expect(await store.putDefinitions({ ...revision(0), seenAt: later(noon, 9) })).toBe(false);
      for (let n = 1; n <= 20; n++) await store.putDefinitions(revision(n));
      expect(await store.definitions(mod)).toEqual(Array.from({ length: 16 }, (_, i) => revision(20 - i)));
      expect(await store.definitions(other)).toEqual([]);
    });

    it('notes', async () => {
      await store.putNote('relay cursor', 'abc');
      expect(await store.note('relay cursor')).toBe('abc');
      await store.putNote('relay cursor', null);
      expect(await store.note('relay cursor')).toBeNull();
      await expect(store.putNote('long', 'x'.repeat(70_000))).rejects.toMatchObject({ code: 'invalid_query' });
    });
  });

  describe('one writer, many readers', () => {
    it('refuses a second writer, and lets it in once the first has closed', async () => {
      await expect(place.write(noon)).rejects.toMatchObject({ code: 'second_writer' });
      await reopen();
    });

    it('shows a reader every append that returned', async () => {
      const reader = await place.read();
      for (let n = 0; n < 5; n++) {
        await store.append(batch(later(noon, n * day), [n]));
        expect(await everyRow(reader, { start: noon, end: later(noon, 5 * day) })).toHaveLength(n + 1);
      }
      const rows = await everyRow(reader, { start: noon, end: later(noon, 5 * day) });
      await store.maintain(later(noon, 4 * day));
      expect(await everyRow(reader, { start: noon, end: later(noon, 5 * day) })).toEqual(rows);
      await reader.close();
    });

    it('refuses everything after closing, and closes twice', async () => {
      const reader = await place.read();
      await reader.close();
      await reader.close();
      await expect(reader.frontier()).rejects.toMatchObject({ code: 'closed' });
      await store.close();
      await expect(store.append(batch(noon, [1]))).rejects.toMatchObject({ code: 'closed' });
      await expect(store.maintain(noon)).rejects.toMatchObject({ code: 'closed' });
    });
  });

  it('refuses to read where there is no store', async () => {
    const empty = await kind.place();
    await expect(empty.read()).rejects.toMatchObject({ code: 'not_a_store' });
    await empty.remove();
  });
});

function later(at: number, more: number): Micros {
  return micros(at + more);
}

function around(at: number): Interval {
  return { start: micros(at), end: micros(at + day) };
}

function noonText(milliseconds: number): string {
  return new Date(noon / 1000 + milliseconds).toISOString();
}

function batch(at: Micros, numbers: readonly number[]): Batch {
  return { at, observations: numbers.map((n) => observationOf(labelNumber(n))), refusals: [], positions: [] };
}

async function collect(chunks: AsyncIterable<readonly Observation[]>): Promise<Observation[]> {
  const rows: Observation[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}

async function everyRow(store: StoreReader, interval: Interval): Promise<Observation[]> {
  const all = await Promise.all(
    subjects.map((account) => collect(scanAccount(store, { account, ...interval, order: 'oldest' }, 1e6))),
  );
  return all.flat().sort((a, b) => a.observedAt - b.observedAt);
}

async function problems(store: StoreReader): Promise<string[]> {
  const found: string[] = [];
  for await (const report of store.verify()) found.push(...report.problems.map((text) => `${report.day}: ${text}`));
  return found;
}

/** What happens to a store: time passes, then labels come; now and then it is maintained. */
const step = fc.record({
  wait: fc.oneof(
    fc.integer({ min: 0, max: 90 * second }),
    fc.integer({ min: 0, max: 3 * hour }),
    fc.constantFrom(day / 2, day, day + 1, 3 * day),
  ),
  labels: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 25 }),
  refused: fc.array(
    fc.record({
      source: fc.constantFrom(...labelers),
      reason: fc.constantFrom('late', 'future'),
      count: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 2 },
  ),
  position: fc.option(fc.record({ source: fc.constantFrom(...labelers), value: fc.option(fc.constantFrom('1', '2')) })),
  maintain: fc.boolean(),
});
const history = fc.array(step, { minLength: 1, maxLength: 10 });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A question: where in the history it begins and ends, as fractions, and how it is read. */
const question = fc.record({
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
  align: fc.constantFrom(1, second, minute, hour),
  account: fc.constantFrom(...subjects),
  order: fc.constantFrom('oldest', 'newest'),
  limit: fc.integer({ min: 1, max: 7 }),
});
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

async function agree(store: StoreWriter, steps: readonly Step[], questions: readonly Question[]): Promise<void> {
  const model = new StoreModel();
  let now = noon;
  // Labels of more than 48 h ago may come again: then they are other labels, as admission would see to.
  for (const [i, { wait, labels, refused, position, maintain }] of steps.entries()) {
    now = later(now, wait);
    const age = Math.floor((now - noon) / (2 * day));
    const observations = labels.map((n) => observationOf(labelNumber(n, { exp: `${age}` })));
    const positions = position ? [{ ...position, endpoint: 'https://e.example' }] : [];
    const asked: Batch = { at: now, observations, refusals: refused as Batch['refusals'], positions };
    expect(await store.append(asked), `step ${i}`).toEqual(model.append(asked));
    if (maintain) await store.maintain(now);
  }
  const end = later(now, hour);
  for (const { from, to, align, account, order, limit } of questions) {
    const ends = [from, to]
      .map((share) => Math.floor((noon + share * (end - noon)) / align) * align)
      .sort((a, b) => a - b);
    const interval = {
      start: micros(Math.max(noon, ends[0] ?? 0)),
      end: micros(Math.max(noon + align, (ends[1] ?? 0) + align)),
    };
    const rows: Observation[] = [];
    let next: Micros | null = null;
    do {
      const chunk = await store.readAccount({ account, ...interval, order, after: next, limit });
      expect(chunk.rows.length).toBeLessThanOrEqual(limit);
      rows.push(...chunk.rows);
      next = chunk.next;
    } while (next !== null);
    expect(rows).toEqual(model.account(account, interval, order));
    expect(await store.accountIntervals({ account, ...interval, maxRows: limit, budget: 1e6 })).toEqual(
      model.intervals(account, interval, limit),
    );
    expect(await store.countsByLabeler(interval)).toEqual(model.byLabeler(interval));
    expect(await store.labelersActive(interval)).toBe(model.byLabeler(interval).length);
    expect(await store.refusals(interval)).toEqual(model.refusals(interval));
    if (interval.start % hour === 0 && interval.end % hour === 0) {
      expect(await store.countsOverTime({ ...interval, bucket: 'hour' })).toEqual(model.overTime(interval, hour));
    }
  }
  expect(await store.positions()).toEqual(model.positions());
  expect(await problems(store)).toEqual([]);
}
