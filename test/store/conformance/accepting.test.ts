import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyLabel, labelers, labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { around, batch, kinds, later, noonText, problems, useStore } from '../../../harness/conformance/suite.ts';
import { everyRow } from '../../../harness/store/scan.ts';
import { maxRefusedRowsLength } from '../../../src/store/label.ts';
import { maxBatchRows } from '../../../src/store/port.ts';
import { day, dayStart, hour, micros, minute, second } from '../../../src/store/time.ts';

const [alice = '', bob = ''] = subjects;
const [mod = '', other = ''] = labelers;

describe.each(kinds)('in a $name store,', (kind) => {
  const on = useStore(kind);

  describe('appending a batch', () => {
    it('stamps rows in order, one microsecond apart, starting at the clock or after the last stamp', async () => {
      const first = await on.store.append(batch(noon, [0, 1, 2]));
      const second = await on.store.append(batch(noon, [3]));
      const third = await on.store.append(batch(later(noon, minute), [4]));
      expect([first, second, third]).toEqual([
        { accepted: 3, duplicates: [], first: noon, last: noon + 2 },
        { accepted: 1, duplicates: [], first: noon + 3, last: noon + 3 },
        { accepted: 1, duplicates: [], first: noon + minute, last: noon + minute },
      ]);
    });

    it('stores batches in the order of the calls, if a call does not wait for the one before', async () => {
      const [quoted, position] = [
        { val: `it's "\\" {},\0` },
        { source: mod, endpoint: `wss://e.example/'\\`, value: `'1` },
      ];
      const invalid = { ...batch(noon, []), observations: [observationOf(labelNumber(9, { uri: 'not a subject' }))] };
      await on.store.append(batch(noon, [0, 1, 2, 3, 4, 5]));
      const begun = on.store.append(batch(noon, [6, 1]));
      await new Promise(setImmediate);
      const calls = [
        begun,
        on.store.append({ ...batch(noon, [7, 0, 6]), positions: [position] }),
        on.store.append(invalid),
        on.store.append({ ...batch(later(noon, minute), []), observations: [observationOf(labelNumber(8, quoted))] }),
        on.store.append({ ...batch(later(noon, minute), [7]), refusals: [{ source: mod, reason: 'late', count: 2 }] }),
        on.store.append(batch(later(noon, day), [0, 9])),
      ];
      expect(await Promise.allSettled(calls)).toMatchObject([
        { value: { accepted: 1, duplicates: [1], first: noon + 6, last: noon + 6 } },
        { value: { accepted: 1, duplicates: [1, 2], first: noon + 7, last: noon + 7 } },
        { reason: { code: 'invalid_observation' } },
        { value: { accepted: 1, duplicates: [], first: noon + minute, last: noon + minute } },
        { value: { accepted: 0, duplicates: [0], first: null, last: null } },
        { value: { accepted: 1, duplicates: [0], first: noon + day, last: noon + day } },
      ]);
      const rows = await everyRow(on.store, { start: noon, end: later(noon, 2 * day) });
      const numbers = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => labelNumber(n));
      expect(rows.map(({ label }) => label)).toEqual([...numbers, labelNumber(8, quoted), labelNumber(9)]);
      expect(await on.store.positions()).toContainEqual({ ...position, acceptedAt: noon });
      expect(await problems(on.store)).toEqual([]);
    });

    it('keeps every label as it was received', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyLabel, { minLength: 1, maxLength: 20 }), async (labels) => {
          const { first, last, duplicates } = await on.store.append({
            ...batch(noon, []),
            observations: labels.map(observationOf),
          });
          const kept = labels.filter((_, i) => !duplicates.includes(i));
          if (first === null || last === null) return expect(kept).toEqual([]);
          const rows = await everyRow(on.store, { start: first, end: later(last, 1) });
          expect(rows.map((row) => row.label)).toEqual(kept);
        }),
        { numRuns: 60 },
      );
    });

    it('keeps a signature that is a plain Uint8Array, and a URI of 8 KB', async () => {
      const label = labelNumber(1, { sig: new Uint8Array([1, 2, 3]), uri: `at://${alice}/a.b.c/${'x'.repeat(8_000)}` });
      await on.store.append({ ...batch(noon, []), observations: [observationOf(label)] });
      const [row] = await everyRow(on.store, around(noon));
      expect(row?.label).toEqual({ ...label, sig: Buffer.from([1, 2, 3]) });
    });

    it('stores a label once, regardless of its signature, its version, and whether neg is false or absent', async () => {
      await on.store.append(batch(noon, [1]));
      const { neg: _, ...unsaid } = labelNumber(1);
      const again = [
        labelNumber(1, { sig: Buffer.alloc(64, 9) }),
        labelNumber(1, { ver: 2 }),
        { ...unsaid, neg: false },
      ];
      const result = await on.store.append({
        ...batch(noon, []),
        observations: [...again, labelNumber(2)].map(observationOf),
      });
      expect(result).toEqual({ accepted: 1, duplicates: [0, 1, 2], first: noon + 1, last: noon + 1 });
      expect(await on.store.refusals(around(noon))).toEqual([
        { source: labelNumber(1).src, reason: 'duplicate', count: 3 },
      ]);
    });

    it('detects a duplicate within one batch', async () => {
      const result = await on.store.append(batch(noon, [1, 1, 2, 1]));
      expect(result).toMatchObject({ accepted: 2, duplicates: [1, 3] });
    });

    it('treats labels that differ in any field of the label identity as different', async () => {
      const changes = [
        {},
        { src: mod },
        { cid: 'x' },
        { neg: true },
        { cts: noonText(1) },
        { exp: noonText(2) },
        { val: 'y' },
        { uri: bob },
      ];
      const labels = changes.map((change) => observationOf({ ...labelNumber(4), ...change }));
      expect(await on.store.append({ ...batch(noon, []), observations: labels })).toMatchObject({
        accepted: 8,
        duplicates: [],
      });
    });

    it('detects a duplicate after a restart and across midnight, for 48 h 05 m', async () => {
      await on.store.append(batch(noon, [1]));
      await on.store.append(batch(later(noon, day), [2]));
      const late = later(noon, 48 * hour + 4 * minute);
      await on.reopen(late);
      expect(await on.store.append(batch(late, [1, 2, 3]))).toMatchObject({ accepted: 1, duplicates: [0, 1] });
    });

    it('accepts a label as new again 55 hours after its first acceptance', async () => {
      await on.store.append(batch(noon, [1]));
      const late = later(noon, 55 * hour);
      await on.store.append(batch(late, [2]));
      expect(await on.store.append(batch(late, [1]))).toMatchObject({ accepted: 1, duplicates: [] });
    });

    it('stamps all rows of a batch from midnight on if the batch would otherwise cross midnight', async () => {
      const midnight = dayStart(20_001);
      const result = await on.store.append(batch(micros(midnight - 2), [0, 1, 2]));
      expect(result).toEqual({ accepted: 3, duplicates: [], first: midnight, last: midnight + 2 });
      const fits = await on.store.append(batch(micros(midnight + 1), [3]));
      expect(fits.first).toBe(midnight + 3);
    });

    it('continues from the last stamp if the clock steps back by up to 5 s, and refuses batches after a larger step', async () => {
      await on.store.append(batch(later(noon, 10 * second), [1]));
      expect((await on.store.append(batch(later(noon, 6 * second), [2]))).first).toBe(noon + 10 * second + 1);
      await expect(on.store.append(batch(later(noon, 4 * second), [3]))).rejects.toMatchObject({
        code: 'clock_behind',
        retry: true,
      });
      expect(await on.store.append(batch(later(noon, 11 * second), [3]))).toMatchObject({ accepted: 1 });
    });

    it.each([
      ['a label about a handle', { ...labelNumber(1), uri: 'at://alice.example/app.bsky.feed.post/1' }],
      ['a label about a web address', { ...labelNumber(1), uri: 'https://alice.example' }],
      ['a label with half of a surrogate pair', { ...labelNumber(1), val: 'x\ud800' }],
      ['a label whose version is not an integer', { ...labelNumber(1), ver: 1.5 }],
      ['a label of 17 KB', { ...labelNumber(1), extra: new Uint8Array(17 * 1024) }],
    ])('stores nothing of a batch that contains an invalid label (%s)', async (_, label) => {
      const observations = [observationOf(labelNumber(5)), observationOf(label)];
      await expect(on.store.append({ ...batch(noon, []), observations })).rejects.toMatchObject({
        code: 'invalid_observation',
      });
      expect(await everyRow(on.store, around(noon))).toEqual([]);
    });

    it('refuses a batch that exceeds its limits', async () => {
      const many = Array.from({ length: maxBatchRows + 1 }, (_, i) => i);
      await expect(on.store.append(batch(noon, many))).rejects.toMatchObject({ code: 'batch_too_large' });
      const long = [{ source: mod, endpoint: 'wss://mod.example', value: 'x'.repeat(5_000) }];
      await expect(on.store.append({ ...batch(noon, []), positions: long })).rejects.toMatchObject({
        code: 'batch_too_large',
      });
    });
  });

  describe('positions', () => {
    const at = (source: string, value: string | null, endpoint = 'https://a.example') => ({ source, endpoint, value });

    it('are stored by source and endpoint, and deleted by a null value', async () => {
      await on.store.append({
        ...batch(noon, [1]),
        positions: [at(mod, '5'), at(mod, '7', 'https://b.example'), at(other, '1')],
      });
      await on.store.append({ ...batch(later(noon, 9), []), positions: [at(mod, '6'), at(other, null)] });
      expect(await on.store.positions()).toEqual([
        { ...at(mod, '6'), acceptedAt: noon + 9 },
        { ...at(mod, '7', 'https://b.example'), acceptedAt: noon },
      ]);
    });

    it('are kept across midnight and a restart, with the time of acceptance', async () => {
      await on.store.append({ ...batch(noon, [1]), positions: [at(mod, '5'), at(other, '2')] });
      await on.store.append({ ...batch(later(noon, 3 * day), [2]), positions: [at(other, '3')] });
      await on.reopen(later(noon, 4 * day));
      expect(await on.store.positions()).toEqual([
        { ...at(other, '3'), acceptedAt: noon + 3 * day },
        { ...at(mod, '5'), acceptedAt: noon },
      ]);
    });

    it('do not move when their batch is refused', async () => {
      await on.store.append({ ...batch(noon, [1]), positions: [at(mod, '5')] });
      const bad = { ...labelNumber(2), uri: 'nothing' };
      await on.store
        .append({ ...batch(noon, []), observations: [observationOf(bad)], positions: [at(mod, '6')] })
        .catch(() => {});
      expect(await on.store.positions()).toEqual([{ ...at(mod, '5'), acceptedAt: noon }]);
    });
  });

  describe('refused rows', () => {
    const at = (source: string, bucket: number, rows: string | null) => ({ source, bucket, rows });

    it('are stored by source and bucket, and deleted by a null value', async () => {
      await on.store.append({
        ...batch(noon, [1]),
        refusedRows: [at(mod, 3, 'a'), at(mod, 15, 'b'), at(other, 0, 'c')],
      });
      await on.store.append({ ...batch(later(noon, 9), []), refusedRows: [at(mod, 3, 'd'), at(other, 0, null)] });
      expect(await on.store.refusedRows()).toEqual([at(mod, 3, 'd'), at(mod, 15, 'b')]);
      expect(await on.store.positions()).toEqual([]);
    });

    it('are kept across midnight and a restart', async () => {
      await on.store.append({ ...batch(noon, [1]), refusedRows: [at(mod, 3, 'a'), at(other, 0, 'c')] });
      await on.store.append({ ...batch(later(noon, day), [2]), refusedRows: [at(other, 0, 'd')] });
      await on.reopen(later(noon, day + hour));
      expect(await on.store.refusedRows()).toEqual([at(other, 0, 'd'), at(mod, 3, 'a')]);
    });

    it('do not change if their batch is refused', async () => {
      await on.store.append({ ...batch(noon, [1]), refusedRows: [at(mod, 3, 'a')] });
      const bad = { ...labelNumber(2), uri: 'nothing' };
      const refused = { ...batch(noon, []), observations: [observationOf(bad)], refusedRows: [at(mod, 3, 'b')] };
      await expect(on.store.append(refused)).rejects.toMatchObject({ code: 'invalid_observation' });
      expect(await on.store.refusedRows()).toEqual([at(mod, 3, 'a')]);
    });

    it.each([
      ['longer than a bucket', at(mod, 0, 'x'.repeat(maxRefusedRowsLength + 1)), 'batch_too_large'],
      ['in a bucket that does not exist', at(mod, 16, 'x'), 'batch_too_large'],
      ['in a bucket whose number is not an integer', at(mod, 0.5, 'x'), 'batch_too_large'],
      ['not valid Unicode', at(mod, 0, '\ud800'), 'invalid_observation'],
    ] as const)('cannot be stored if they are %s', async (_, change, code) => {
      await expect(on.store.append({ ...batch(noon, [1]), refusedRows: [change] })).rejects.toMatchObject({ code });
      expect(await on.store.refusedRows()).toEqual([]);
    });
  });

  describe('the frontier', () => {
    it('begins and ends at the epoch in an empty store', async () => {
      const { generationId, startedAt } = await on.store.epoch();
      expect(await on.store.frontier()).toEqual({
        generationId,
        floor: noon,
        end: noon,
        observedThrough: null,
        revision: 0,
      });
      expect(startedAt).toBe(noon);
      expect(generationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    });

    it('has the same epoch after a restart', async () => {
      const [epoch, { generationId }] = [await on.store.epoch(), await on.store.frontier()];
      await on.reopen(later(noon, day));
      expect(await on.store.epoch()).toEqual(epoch);
      expect(await on.store.frontier()).toMatchObject({ generationId });
    });

    it('ends after the last row, and states the last batch as the end of observation, even if that batch has no rows', async () => {
      await on.store.append(batch(noon, [1, 2]));
      await on.store.append(batch(later(noon, hour), []));
      expect(await on.store.frontier()).toMatchObject({ end: noon + 2, observedThrough: noon + hour });
      await on.reopen(later(noon, 2 * hour));
      expect(await on.store.frontier()).toMatchObject({ end: noon + 2, observedThrough: noon + hour });
    });

    it('does not move if a batch only removes positions, because such a batch contains no page', async () => {
      const position = { source: mod, endpoint: 'wss://e.example', value: '1' };
      const removal = { ...position, value: null };
      const through = async (): Promise<number | null> => (await on.store.frontier()).observedThrough;
      await on.store.append({ ...batch(noon, []), positions: [removal] });
      expect(await through()).toBeNull();
      await on.store.append({ ...batch(later(noon, second), [1]), positions: [position] });
      await on.store.append({ ...batch(later(noon, 5 * minute), []), positions: [removal, removal] });
      expect([await through(), await on.store.positions()]).toEqual([noon + second, []]);
      await on.store.append({ ...batch(later(noon, day), []), positions: [removal] });
      await on.reopen(later(noon, day));
      expect(await through()).toBe(noon + second);
      // A batch with a removal may contain a page too.
      await on.store.append({ ...batch(later(noon, day + second), []), positions: [removal, position] });
      expect(await through()).toBe(noon + day + second);
      const refusals = [{ source: mod, reason: 'late', count: 1 }] as const;
      await on.store.append({ ...batch(later(noon, day + minute), []), positions: [removal], refusals });
      expect(await through()).toBe(noon + day + minute);
      expect(await problems(on.store)).toEqual([]);
    });

    it('is the time of the pages, as that of their positions, if a standby accepted them before it stores them', async () => {
      const position = { source: mod, endpoint: 'wss://e.example', value: '1' };
      const before = later(noon, -3 * hour);
      const kept = { pagesAt: before, positions: [{ ...position, acceptedAt: before }] };
      const look = async () => [(await on.store.frontier()).observedThrough, await on.store.positions()];
      await on.store.append({ ...batch(noon, [1]), ...kept });
      expect(await look()).toEqual([before, [{ ...position, acceptedAt: before }]]);
      const others = [{ ...position, endpoint: 'wss://f.example' }];
      await on.store.append({ ...batch(later(noon, second), []), pagesAt: later(before, -hour), positions: others });
      const both = [
        { ...position, acceptedAt: before },
        { ...position, endpoint: 'wss://f.example', acceptedAt: later(noon, second) },
      ];
      expect(await look()).toEqual([before, both]);
      const refusals = [{ source: mod, reason: 'late', count: 1 }] as const;
      await on.store.append({ ...batch(later(noon, minute), []), pagesAt: null, refusals });
      await on.reopen(later(noon, minute));
      expect(await look()).toEqual([before, both]);
      expect(await problems(on.store)).toEqual([]);
    });
  });
});
