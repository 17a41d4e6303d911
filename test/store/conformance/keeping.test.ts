import { describe, expect, it } from 'vitest';
import { labelers, noon } from '../../../harness/conformance/labels.ts';
import { batch, kinds, later, problems, useStore } from '../../../harness/conformance/suite.ts';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import { everyRow } from '../../../harness/store/scan.ts';
import type { DayReport, StoreReader } from '../../../src/store/port.ts';
import type { RosterRow } from '../../../src/store/roster.ts';
import { day, dayStart, daysUntilExpiry, minute } from '../../../src/store/time.ts';

const [mod = '', other = ''] = labelers;

/** Returns the result of `verify` for every day. */
async function reports(store: StoreReader): Promise<DayReport[]> {
  const found: DayReport[] = [];
  for await (const report of store.verify()) found.push(report);
  return found;
}

describe.each(kinds)('in a $name store,', (kind) => {
  const on = useStore(kind);

  describe('upkeep', () => {
    it('seals days that can no longer receive duplicates, without changing the results of reads', async () => {
      for (let d = 0; d < 5; d++) await on.store.append(batch(later(noon, d * day), [d * 4, d * 4 + 1]));
      const before = await everyRow(on.store, { start: noon, end: later(noon, 5 * day) });
      const { sealed, expired } = await on.store.maintain(later(noon, 4 * day));
      expect({ sealed, expired }).toEqual({ sealed: ['2024-10-04', '2024-10-05'], expired: [] });
      expect(await everyRow(on.store, { start: noon, end: later(noon, 5 * day) })).toEqual(before);
      expect(await problems(on.store)).toEqual([]);
      await on.reopen(later(noon, 4 * day));
      expect(await everyRow(on.store, { start: noon, end: later(noon, 5 * day) })).toEqual(before);
    });

    it('seals days by the last stamp, so that a clock that jumped ahead seals no day', async () => {
      await on.store.append(batch(noon, [1]));
      await on.store.append(batch(later(noon, day), [2]));
      expect(await on.store.maintain(later(noon, 20 * day))).toEqual({ sealed: [], postponed: [], expired: [] });
    });

    it('drops one day per run if the day is more than a day older than the window, and queries of that day are then refused', async () => {
      await on.reopen(noon, { windowDays: 2 });
      for (let d = 0; d < 7; d++) await on.store.append(batch(later(noon, d * day), [d]));
      const now = later(noon, 6 * day);
      expect((await on.store.maintain(now)).expired).toEqual(['2024-10-04']);
      expect((await on.store.maintain(now)).expired).toEqual(['2024-10-05']);
      expect((await on.store.maintain(now)).expired).toEqual(['2024-10-06']);
      expect((await on.store.maintain(now)).expired).toEqual([]);
      expect(await on.store.frontier()).toMatchObject({ floor: dayStart(20_003) });
      await expect(on.store.countsByLabeler({ start: noon, end: now })).rejects.toMatchObject({
        code: 'out_of_window',
      });
      expect(await everyRow(on.store, { start: dayStart(20_003), end: later(now, 9) })).toHaveLength(4);
    });

    it('keeps the rows of a window of 30 days for at least 31 days, and removes a day at the age of 32', async () => {
      const [first, next] = [dayStart(20_000), dayStart(20_000 + 31)];
      await on.reopen(first, { windowDays: 30 });
      for (const [at, label] of [
        [first, 1],
        [later(next, 1), 2],
      ] as const)
        await on.store.append(batch(at, [label]));
      const removedAt = dayStart(20_000 + daysUntilExpiry(30));
      expect((await on.store.maintain(later(removedAt, -1))).expired).toEqual([]);
      expect((await on.store.maintain(removedAt)).expired).toEqual(['2024-10-04']);
    });

    it('keeps the part of a gap that lies after the dropped day', async () => {
      await on.reopen(noon, { windowDays: 2 });
      for (let d = 0; d < 5; d++) await on.store.append(batch(later(noon, d * day), [d]));
      const [across, end] = [later(noon, day / 4), later(noon, 3 * day)];
      await on.store.recordGap({ source: mod, start: across, end, reason: 'source_unavailable' });
      await on.store.recordGap({ source: mod, start: noon, end: later(noon, minute), reason: 'cursor_reset' });
      const floor = dayStart(20_001);
      expect((await on.store.maintain(later(noon, 4 * day))).expired).toEqual(['2024-10-04']);
      expect(await on.store.gaps({ start: noon, end: later(noon, 4 * day) })).toEqual([
        { source: mod, start: expect.any(Number), end, reason: 'source_unavailable' },
      ]);
      expect(await on.store.coverage({ start: floor, end, labelers: [mod] })).toMatchObject([{ gapped: end - floor }]);
    });

    it('keeps the newest day at any age, because it contains the positions', async () => {
      await on.store.append({ ...batch(noon, [1]), positions: [{ source: mod, endpoint: 'e', value: '1' }] });
      expect(await on.store.maintain(later(noon, 90 * day))).toEqual({ sealed: [], postponed: [], expired: [] });
      await on.store.append(batch(later(noon, 90 * day), [2]));
      expect(await on.store.positions()).toMatchObject([{ source: mod, value: '1' }]);
    });

    it('never reopens a sealed day', async () => {
      await on.store.append(batch(noon, [1]));
      await on.store.append(batch(later(noon, 4 * day), [2]));
      await on.store.maintain(later(noon, 4 * day));
      for (const reopened of [false, true]) {
        if (reopened) await on.reopen(later(noon, minute));
        await expect(on.store.append(batch(later(noon, minute), [3]))).rejects.toMatchObject({ code: 'clock_behind' });
        // In the first round, label 1 is accepted as new again, so its row belongs to the newest day.
        expect(await on.store.append(batch(later(noon, 4 * day), [1]))).toMatchObject({ accepted: reopened ? 0 : 1 });
        expect(await on.store.maintain(later(noon, 4 * day))).toMatchObject({ sealed: [] });
        const [first] = await reports(on.store);
        expect(first).toMatchObject({ day: '2024-10-04', sealed: true, rows: 1, problems: [] });
      }
    });
  });

  describe('gaps', () => {
    const gap = (source: string | null, start: number, end: number, reason = 'source_unavailable' as const) => ({
      source,
      start: later(noon, start),
      end: later(noon, end),
      reason,
    });

    it('are merged if they touch and have the same source and reason, and grow during an ongoing outage', async () => {
      for (const end of [2, 4, 6]) await on.store.recordGap(gap(mod, 1, end));
      await on.store.recordGap(gap(mod, 6, 7));
      await on.store.recordGap(gap(mod, 9, 10));
      await on.store.recordGap(gap(other, 1, 2));
      const wide = { start: noon, end: later(noon, 100) };
      expect(await on.store.gaps({ ...wide, source: mod })).toEqual([gap(mod, 1, 7), gap(mod, 9, 10)]);
      expect(await on.store.gaps(wide)).toHaveLength(3);
    });

    it('are recorded and withdrawn in batches, in order and atomically', async () => {
      await on.store.changeGaps([
        { kind: 'record', gap: gap(mod, 10, 20) },
        { kind: 'record', gap: gap(other, 10, 20) },
        { kind: 'withdraw', gap: gap(mod, 15, 30) },
        { kind: 'record', gap: gap(mod, 18, 19) },
      ]);
      const refused = on.store.changeGaps([
        { kind: 'record', gap: gap(mod, 40, 50) },
        { kind: 'record', gap: gap(mod, 5, 5) },
      ]);
      await expect(refused).rejects.toMatchObject({ code: 'invalid_query' });
      await on.reopen();
      expect(await on.store.gaps({ start: noon, end: later(noon, 100) })).toEqual([
        gap(mod, 10, 15),
        gap(other, 10, 20),
        gap(mod, 18, 19),
      ]);
    });

    it('can be withdrawn for one source, reason and time, without changing other gaps', async () => {
      for (const source of [mod, other, null]) await on.store.recordGap(gap(source, 10, 20));
      await on.store.recordGap({ ...gap(mod, 12, 30), reason: 'cursor_reset' });
      await on.store.withdrawGap(gap(mod, 12, 15));
      await on.store.withdrawGap(gap(mod, 12, 15));
      await on.store.withdrawGap(gap(mod, 18, 25));
      await on.reopen();
      const wide = { start: noon, end: later(noon, 100) };
      expect((await on.store.gaps({ ...wide, source: mod })).filter(({ source }) => source === mod)).toEqual([
        gap(mod, 10, 12),
        { ...gap(mod, 12, 30), reason: 'cursor_reset' },
        gap(mod, 15, 18),
      ]);
      expect((await on.store.gaps(wide)).filter(({ source }) => source !== mod)).toEqual([
        gap(null, 10, 20),
        gap(other, 10, 20),
      ]);
      await on.store.withdrawGap(gap(mod, 0, 100));
      expect((await on.store.gaps({ ...wide, source: mod })).map(({ reason }) => reason)).toEqual([
        'source_unavailable',
        'cursor_reset',
      ]);
    });

    it('are clipped to the interval, and are the same after a restart', async () => {
      await on.store.recordGap(gap(mod, 1, 50));
      await on.reopen();
      expect(await on.store.gaps({ start: later(noon, 10), end: later(noon, 20) })).toEqual([gap(mod, 10, 20)]);
      expect(await on.store.gaps({ start: later(noon, 50), end: later(noon, 60) })).toEqual([]);
    });

    it('are listed by labeler, together with the interruptions of the instrument', async () => {
      await on.store.recordGap(gap(null, 10, 20));
      await on.store.recordGap(gap(mod, 15, 40));
      const interval = { start: noon, end: later(noon, 30) };
      expect(await on.store.coverage({ ...interval, labelers: [mod, other] })).toEqual([
        { labeler: mod, gaps: [gap(null, 10, 20), gap(mod, 15, 30)], gapped: 20 },
        { labeler: other, gaps: [gap(null, 10, 20)], gapped: 10 },
      ]);
    });

    it('are limited in number per source by merging the closest gaps into one gap of unknown reason, without hiding a gap', async () => {
      for (let i = 0; i < 600; i++) await on.store.recordGap(gap(mod, i * 10, i * 10 + 5));
      const kept = await on.store.gaps({ start: noon, end: later(noon, 6_000), source: mod });
      expect(kept).toHaveLength(512);
      // All pauses have the same length, so that each merge extends the first gap.
      expect(kept.map(({ reason }) => reason).toSorted()).toEqual([
        ...Array(511).fill('source_unavailable'),
        'unknown',
      ]);
      for (let i = 0; i < 600; i++) {
        expect(kept.some(({ start, end }) => start <= noon + i * 10 && end >= noon + i * 10 + 5)).toBe(true);
      }
    });

    it('are rejected if they do not end after their start', async () => {
      await expect(on.store.withdrawGap(gap(mod, 5, 5))).rejects.toMatchObject({ code: 'invalid_query' });
      await expect(on.store.recordGap(gap(mod, 5, 5))).rejects.toMatchObject({ code: 'invalid_query' });
    });
  });

  describe("the instrument's other data", () => {
    it('includes a heartbeat that never goes backwards', async () => {
      expect(await on.store.heartbeat()).toBeNull();
      await on.store.beat(later(noon, 10));
      await on.store.beat(noon);
      await on.reopen();
      expect(await on.store.heartbeat()).toBe(noon + 10);
    });

    it('includes roster rows, which are replaced as a whole', async () => {
      const row = rosterRow(mod, { provenance: ['seeds', 'relay r', 'jetstream'], enrolled: false, stateSince: noon });
      await on.store.putRoster([row, { ...row, did: other }]);
      const enrolled: RosterRow = {
        ...{ did: mod, origin: 'discovered', provenance: ['jetstream', 'relay r'], enrolled: true },
        ...{
          resolutionStatus: 'bad_endpoint',
          endpoint: 'https://mod.example',
          state: 'probing',
          stateSince: later(noon, 1),
        },
        handle: { name: 'mod.example', confirmed: true },
        ...{ firstAsked: later(noon, 2), firstAnswered: later(noon, 3), lastAnswered: later(noon, 4) },
        ...{ failingSince: later(noon, 5), completeThrough: later(noon, 6), dated: true, undated: true },
      };
      await on.store.putRoster([enrolled]);
      // A failed change must not affect the data that the writer caches.
      const tooLong = rosterRow(other, { state: 'x'.repeat(8_193) });
      const changed = { ...enrolled, provenance: ['seeds'] };
      await expect(on.store.putRoster([changed, tooLong])).rejects.toMatchObject({ code: 'invalid_query' });
      await on.store.putRoster([changed]);
      expect(await on.store.roster()).toContainEqual(changed);
      await on.store.putRoster([enrolled]);
      await on.reopen();
      expect(await on.store.roster()).toEqual(
        [{ ...row, did: other }, enrolled].sort((a, b) => (a.did < b.did ? -1 : 1)),
      );
      await on.store.dropRoster([other, 'did:web:unknown.example']);
      await on.reopen();
      expect(await on.store.roster()).toEqual([enrolled]);
    });

    it("includes the history of labelers' keys", async () => {
      const key = (name: string, first: number, last: number) => ({
        did: mod,
        key: name,
        firstSeen: later(noon, first),
        lastSeen: later(noon, last),
      });
      await on.store.putKeys([key('zA', 0, 0), key('zB', 5, 5), { ...key('zC', 1, 1), did: other }]);
      await on.store.putKeys([key('zA', 3, 3)]);
      expect(await on.store.keys(other)).toEqual([{ ...key('zC', 1, 1), did: other }]);
      expect(await on.store.keys(mod)).toEqual([key('zA', 0, 3), key('zB', 5, 5)]);
      for (let i = 0; i < 70; i++) await on.store.putKeys([key(`z${i}`, 10 + i, 10 + i)]);
      expect((await on.store.keys(mod)).map(({ key: name }) => name)).toEqual(
        Array.from({ length: 64 }, (_, i) => `z${i + 6}`),
      );
      const many = Array.from({ length: 70 }, (_, i) => key(`y${i}`, 200 + i, 200 + i));
      await on.store.putKeys([...many, key('y69', 100, 100), { ...key('zA', 0, 0), did: other }]);
      expect(await on.store.keys(mod)).toEqual([key('y69', 100, 269), ...many.slice(6, 69)]);
      expect(await on.store.keys(other)).toEqual(
        [key('zA', 0, 0), key('zC', 1, 1)].map((one) => ({ ...one, did: other })),
      );
      await on.store.dropRoster([other]);
      expect([await on.store.keys(other), (await on.store.keys(mod)).length]).toEqual([[], 64]);
    });

    it('includes the newest 16 revisions of definitions, and stores equal revisions only once', async () => {
      const revision = (n: number) => ({ did: mod, seenAt: later(noon, n), content: `{"n":${n}}` });
      expect(await on.store.putDefinitions([revision(0)])).toEqual([true]);
      const again = { ...revision(0), seenAt: later(noon, 9) };
      expect(await on.store.putDefinitions([again, revision(1), revision(1)])).toEqual([false, true, false]);
      for (let n = 2; n <= 20; n++) await on.store.putDefinitions([revision(n)]);
      expect(await on.store.definitions(mod)).toEqual(Array.from({ length: 16 }, (_, i) => revision(20 - i)));
      expect(await on.store.definitions(other)).toEqual([]);
      const ofOther = (n: number) => ({ ...revision(n), did: other });
      const many = Array.from({ length: 20 }, (_, i) => [revision(30 + i), ofOther(i % 2)]).flat();
      expect(await on.store.putDefinitions([...many, ofOther(1)])).toEqual([...many.map(() => true), false]);
      expect(await on.store.definitions(mod)).toEqual(Array.from({ length: 16 }, (_, i) => revision(49 - i)));
      expect(await on.store.definitions(other)).toEqual(Array.from({ length: 16 }, (_, i) => ofOther((i + 1) % 2)));
    });

    it('excludes the definitions of a labeler that was dropped', async () => {
      const revision = (did: string, n: number) => ({ did, seenAt: later(noon, n), content: `{"n":${n}}` });
      await on.store.putRoster([rosterRow(mod), rosterRow(other)]);
      await on.store.putDefinitions([revision(mod, 0), revision(other, 0), revision(other, 1)]);
      await on.store.dropRoster([other]);
      await on.reopen();
      expect([await on.store.definitions(other), await on.store.definitions(mod)]).toEqual([[], [revision(mod, 0)]]);
      expect(await on.store.putDefinitions([revision(other, 1)])).toEqual([true]);
      expect(await on.store.definitions(other)).toEqual([revision(other, 1)]);
    });

    it('excludes all rows of a change in which one text is too long', async () => {
      const long = 'x'.repeat(8_193);
      const texts = [{ endpoint: long }, { state: long }, { resolutionStatus: long }, { provenance: [long] }];
      for (const change of [...texts, { handle: { name: long, confirmed: false } }]) {
        const rows = [rosterRow(other), rosterRow(mod, change)];
        await expect(on.store.putRoster(rows)).rejects.toMatchObject({ code: 'invalid_query' });
      }
      expect(await on.store.roster()).toEqual([]);
    });

    it('includes the number of bytes of one day by source', async () => {
      const bytes = (day: number, ...entries: [string, number][]) => ({ day, bytes: new Map(entries) });
      await on.store.putDailyBytes(bytes(20_000, [mod, 5], [other, 7]));
      await on.store.putDailyBytes(bytes(20_000, [mod, 6]));
      await on.reopen();
      expect(await on.store.dailyBytes(20_000)).toEqual(bytes(20_000, [mod, 6], [other, 7]));
      expect(await on.store.dailyBytes(20_001)).toEqual(bytes(20_001));
      await on.store.putDailyBytes(bytes(20_001, [other, 1]));
      expect(await on.store.dailyBytes(20_001)).toEqual(bytes(20_001, [other, 1]));
      expect(await on.store.dailyBytes(20_000)).toEqual(bytes(20_000));
    });

    it('includes the stream position of one directory', async () => {
      expect(await on.store.directoryPosition('plc.example')).toBeNull();
      await on.store.putDirectoryPosition({ host: 'plc.example', seq: 7 });
      await on.store.putDirectoryPosition({ host: 'plc.example', seq: 8 });
      await on.reopen();
      expect(await on.store.directoryPosition('plc.example')).toBe(8);
      await on.store.putDirectoryPosition({ host: 'other.example', seq: 1 });
      expect(await on.store.directoryPosition('plc.example')).toBeNull();
    });

    it('includes notes of the instrument', async () => {
      await on.store.putNote('relay cursor', 'abc');
      expect(await on.store.note('relay cursor')).toBe('abc');
      await on.store.putNote('relay cursor', null);
      expect(await on.store.note('relay cursor')).toBeNull();
      await expect(on.store.putNote('long', 'x'.repeat(70_000))).rejects.toMatchObject({ code: 'invalid_query' });
    });
  });

  describe('concurrent access', () => {
    it('is refused to a second writer until the first writer has closed', async () => {
      await expect(on.place.write(noon)).rejects.toMatchObject({ code: 'second_writer' });
      await on.reopen();
    });

    it('gives readers the rows of every append that has resolved', async () => {
      const reader = await on.place.read();
      for (let n = 0; n < 5; n++) {
        await on.store.append(batch(later(noon, n * day), [n]));
        expect(await everyRow(reader, { start: noon, end: later(noon, 5 * day) })).toHaveLength(n + 1);
      }
      const rows = await everyRow(reader, { start: noon, end: later(noon, 5 * day) });
      await on.store.maintain(later(noon, 4 * day));
      expect(await everyRow(reader, { start: noon, end: later(noon, 5 * day) })).toEqual(rows);
      await reader.close();
    });

    it('is refused after close, which can be called twice', async () => {
      const reader = await on.place.read();
      await reader.close();
      await reader.close();
      await expect(reader.frontier()).rejects.toMatchObject({ code: 'closed' });
      await on.store.close();
      await expect(on.store.append(batch(noon, [1]))).rejects.toMatchObject({ code: 'closed' });
      await expect(on.store.maintain(noon)).rejects.toMatchObject({ code: 'closed' });
    });
  });
});
