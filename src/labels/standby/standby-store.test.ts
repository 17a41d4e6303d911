import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { maxStampAhead } from '../../store/common/batch.ts';
import { StoreError } from '../../store/errors.ts';
import type { Batch, StoreWriter } from '../../store/port.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import { micros } from '../../store/time.ts';
import { createStandbyStore } from './standby-store.ts';

const did = 'did:plc:a';

function observation(val: string) {
  const label = { src: did, uri: 'did:plc:b', val, cts: '2026-11-22T00:00:00.000Z' };
  return { label, signature: 'verified' as const };
}

function batch(at: number, values: readonly string[], position = 'p'): Batch {
  const positions = [{ source: did, endpoint: 'https://a.example', value: position }];
  return { at: micros(at), observations: values.map(observation), refusals: [], positions };
}

/** Creates the store of a standby whose writer has stored the given values, with a clock that the test sets. */
function standbyOf({ limits }: { limits?: { rows: number; bytes: number; age: number } } = {}) {
  const stored = new Set<string>();
  const clock = { now: micros(0) };
  const fake = {
    identityOf: ({ val }) => val,
    knows: (identity) => stored.has(identity),
    follow: async (report = () => undefined) => {
      for (const identity of stored) report(identity);
    },
    note: async () => 'of the standby',
  } satisfies Partial<StoreStandby>;
  const standby = createStandbyStore({
    ...{ standby: fake as Partial<StoreStandby> as StoreStandby, clock: () => clock.now },
    ...(limits && { limits }),
  });
  return { standby, stored, clock };
}

/** Returns a writer that records the batches appended to it. */
function recordingWriter() {
  const appended: Batch[] = [];
  const writer = {
    append: async (one) => {
      appended.push(one);
      return { accepted: one.observations.length, duplicates: [], first: null, last: null };
    },
    note: async () => 'of the writer',
  } satisfies Partial<StoreWriter>;
  return { appended, writer: writer as Partial<StoreWriter> as StoreWriter };
}

test('a read that fails because the view of a standby closed is repeated on the new writer', async () => {
  const { writer } = recordingWriter();
  const view = { note: () => Promise.reject(new StoreError('closed', 'the store was closed')) };
  const { store, hold } = createStandbyStore({
    ...{ standby: view as Partial<StoreStandby> as StoreStandby, clock: () => micros(0) },
  });
  const note = store.note('n');
  await nextTurn();
  hold(writer);
  expect(await note).toBe('of the writer');
});

test('a read of a standby that closes without a successor fails', async () => {
  const view = {
    note: () => Promise.reject(new StoreError('closed', 'the store was closed')),
    close: async () => undefined,
  };
  const { store } = createStandbyStore({
    ...{ standby: view as Partial<StoreStandby> as StoreStandby, clock: () => micros(0) },
  });
  const waiting = store.note('n');
  await store.close();
  await expect(waiting).rejects.toThrow('the store was closed');
  await expect(store.note('n')).rejects.toThrow('the store was closed');
});

test('a standby buffers rows that neither the store nor its buffer contains, and reports all other rows as duplicates', async () => {
  const { standby, stored } = standbyOf();
  stored.add('a');
  const first = await standby.store.append(batch(1, ['a', 'b', 'b']));
  expect([first.accepted, first.duplicates]).toEqual([1, [0, 2]]);
  expect((await standby.store.append(batch(2, ['b', 'c'], 'q'))).duplicates).toEqual([0]);
  stored.add('b');
  await standby.follow();
  expect(standby.kept.rows.drain().map(({ observation: { label } }) => label.val)).toEqual(['c']);
  expect([...standby.kept.positions].map(({ value }) => value)).toEqual(['q']);
});

const one = { rows: 1, bytes: 1_000_000, age: 1_000_000_000 };

test('a row that a standby drops leaves a gap of its labeler since 90 seconds before the preceding page', async () => {
  const { standby } = standbyOf({ limits: one });
  await standby.store.append(batch(93_700_000, []));
  await standby.store.append(batch(95_500_000, ['a']));
  await standby.store.append(batch(99_000_000, ['b']));
  expect(standby.kept.gaps.of(did)).toEqual([
    { source: did, start: 3_000_000, end: 96_000_000, reason: 'ingest_paused' },
  ]);
  expect(standby.kept.rows.size).toBe(1);
});

test('a row of an outage leaves a gap without a known start if a standby drops the row', async () => {
  const { standby } = standbyOf({ limits: one });
  await standby.store.append(batch(3_700_000, []));
  const late = batch(5_500_000, ['a']);
  await standby.store.append({ ...late, observations: late.observations.map((row) => ({ ...row, live: false })) });
  await standby.store.append(batch(9_000_000, ['b']));
  expect(standby.kept.gaps.of(did)).toEqual([{ source: did, start: 0, end: 6_000_000, reason: 'ingest_paused' }]);
});

test('gaps of a standby are buffered, and can be withdrawn in part', async () => {
  const { standby } = standbyOf();
  const gap = { source: did, start: micros(1), end: micros(9), reason: 'source_unavailable' as const };
  await standby.store.recordGap(gap);
  await standby.store.withdrawGap({ ...gap, start: micros(5) });
  expect(standby.kept.gaps.of(did)).toEqual([{ ...gap, end: 5 }]);
});

test('changes wait while the buffered rows are stored, and then reach the new writer with the current time', async () => {
  const { standby, clock } = standbyOf();
  const { appended, writer } = recordingWriter();
  standby.hold(writer);
  const waiting = standby.store.append(batch(1, ['a']));
  let isReleased = false;
  void standby.released().then(() => {
    isReleased = true;
  });
  expect([await standby.store.note('n'), appended]).toEqual(['of the writer', []]);
  clock.now = micros(2 * maxStampAhead);
  expect(isReleased).toBe(false);
  standby.activate();
  await waiting;
  expect(isReleased).toBe(true);
  await standby.store.append(batch(3 * maxStampAhead, ['b']));
  expect(appended.map(({ at }) => at)).toEqual([2 * maxStampAhead, 3 * maxStampAhead]);
  expect(standby.kept.rows.size).toBe(0);
});
