import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { changedGaps, withoutGap } from '../../store/gaps.ts';
import type { Batch, StoredGap, StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { jointChanges, patientStore } from './take-over.ts';

const batch: Batch = { at: micros(1), observations: [], refusals: [], positions: [] };
const none = { accepted: 0, duplicates: [], first: null, last: null };

function storeThatRejects(errors: StoreError[]): StoreWriter {
  const fake = {
    append: async () => {
      const error = errors.shift();
      if (error) throw error;
      return none;
    },
  } satisfies Partial<StoreWriter>;
  return fake as Partial<StoreWriter> as StoreWriter;
}

test('a failed change is retried until the store accepts it', async () => {
  const waits: number[] = [];
  const store = patientStore(storeThatRejects([new StoreError('disk_full', 'full'), new StoreError('busy', 'busy')]), {
    ...{ log: silentLog, signal: new AbortController().signal },
    wait: async (ms) => void waits.push(ms),
  });
  expect(await store.append(batch)).toEqual(none);
  expect(waits).toEqual([500, 500]);
});

test('a change is not repeated after a permanent failure or after a stop', async () => {
  const stopped = AbortSignal.abort();
  const options = { log: silentLog, wait: async () => undefined };
  const fenced = storeThatRejects([new StoreError('fenced', 'fenced')]);
  const running = new AbortController().signal;
  await expect(patientStore(fenced, { ...options, signal: running }).append(batch)).rejects.toThrow('fenced');
  const full = storeThatRejects([new StoreError('disk_full', 'full')]);
  await expect(patientStore(full, { ...options, signal: stopped }).append(batch)).rejects.toThrow('full');
});

const source = 'did:plc:a';
type Reason = StoredGap['reason'];

function gap(start: number, end: number, reason: Reason = 'source_unavailable'): StoredGap {
  return { source, start: micros(start), end: micros(end), reason };
}

/** Returns the stored gaps after the changes of `jointChanges`. */
function applied(reading: Parameters<typeof jointChanges>[0]): StoredGap[] {
  const { records, withdrawals } = jointChanges(reading);
  let gaps: StoredGap[] = [...reading.stored];
  for (const { gap: one } of records) gaps = changedGaps(gaps, { kind: 'record', gap: one });
  for (const { gap: one } of withdrawals) gaps = withoutGap(gaps, one);
  return gaps;
}

test('a gap of the standby is not recorded for time that the former writer has covered', () => {
  expect(applied({ stored: [], storedThrough: micros(100), own: [gap(10, 90)], live: null })).toEqual([]);
});

test('a gap of the standby is recorded from the end of the time that the former writer has covered', () => {
  expect(applied({ stored: [], storedThrough: micros(50), own: [gap(10, 90)], live: null })).toEqual([gap(50, 90)]);
});

test('a gap of the former writer is withdrawn for the time in which the standby read live', () => {
  const live = { start: micros(20), end: micros(60) };
  expect(applied({ stored: [gap(10, 90)], storedThrough: micros(95), own: [], live })).toEqual([
    gap(10, 20),
    gap(60, 90),
  ]);
});

test('the gap of an outage is withdrawn for the time whose labels the standby filled in, except for resets and gaps of the standby', () => {
  const live = { start: micros(60), end: micros(90) };
  const stored = [gap(10, 50), gap(50, 55, 'cursor_reset')];
  const read = { start: micros(10), end: micros(90) };
  const reading = { stored, storedThrough: micros(10), live, read };
  expect(applied({ ...reading, own: [] })).toEqual([gap(50, 55, 'cursor_reset')]);
  expect(applied({ ...reading, own: [gap(10, 20)] })).toEqual([gap(10, 20), gap(50, 55, 'cursor_reset')]);
  const later = { ...read, start: micros(30) };
  expect(applied({ ...reading, own: [], read: later })).toEqual([gap(10, 30), gap(50, 55, 'cursor_reset')]);
});

test('an outage of both instruments is a gap that begins when the second instrument stops reading', () => {
  const reading = { storedThrough: micros(10), own: [], live: null, read: { start: micros(5), end: micros(12) } };
  expect(applied({ ...reading, stored: [gap(10, 50)] })).toEqual([gap(12, 50)]);
});

test('a reset remains a gap if the former writer recorded it before the standby read live', () => {
  const stored = [gap(10, 30, 'cursor_reset')];
  const live = { start: micros(30), end: micros(90) };
  expect(applied({ stored, storedThrough: micros(30), own: [], live })).toEqual(stored);
});

test.each(['unknown', 'maintenance'] as const)('a gap with the reason %s is not withdrawn', (reason) => {
  const stored = [gap(10, 30, reason)];
  const live = { start: micros(0), end: micros(90) };
  expect(applied({ stored, storedThrough: micros(30), own: [], live })).toEqual(stored);
});

test('exactly the time that neither instrument read is a gap', () => {
  const reasons = fc.constantFrom<Reason>('source_unavailable', 'ingest_paused', 'cursor_reset', 'not_observed');
  const gaps = (max: number) =>
    fc
      .array(fc.tuple(fc.nat(max - 1), fc.integer({ min: 1, max: 12 }), reasons), { maxLength: 6 })
      .map((all) => all.map(([start, length, reason]) => gap(start, Math.min(max, start + length), reason)));
  const reading = fc.record({
    stored: gaps(40),
    storedThrough: fc.option(fc.integer({ min: 40, max: 45 })),
    own: gaps(60),
    live: fc.option(fc.tuple(fc.nat(50), fc.nat(60)).map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }))),
  });
  fc.assert(
    fc.property(reading, ({ stored, storedThrough, own, live }) => {
      const covers = (all: readonly StoredGap[], at: number) => all.some(({ start, end }) => start <= at && at < end);
      const through = storedThrough ?? 0;
      const result = applied({
        ...{ stored, own, storedThrough: storedThrough === null ? null : micros(through) },
        live: live && { start: micros(live.start), end: micros(live.end) },
      });
      for (let at = 0; at < 60; at += 1) {
        const standbyRead = live !== null && live.start <= at && at < live.end && !covers(own, at);
        const missed = covers(stored, at) ? !standbyRead : at >= through && covers(own, at);
        expect([at, covers(result, at)]).toEqual([at, missed || (at >= through && covers(own, at))]);
      }
    }),
  );
});
