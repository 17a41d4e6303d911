import { afterEach, describe, expect, test } from 'vitest';
import {
  type LabelReader,
  type LabelScript,
  labelReader,
  pagesOf,
  row,
  type ScriptedStream,
} from '../../../harness/labels/label-reader.ts';
import { until } from '../../../harness/process/until.ts';
import { garbageFrames, infoFrame, labelsFrame } from '../../../sim/labelers/wire.ts';
import { inputLimits } from '../../../src/input/limits.ts';
import { wait } from '../../../src/labels/clock/clock.ts';
import type { JsonAnswer } from '../../../src/network/http/http.ts';

let reader: LabelReader | null = null;

afterEach(async () => {
  await reader?.close();
  expect(reader?.unbalanced).toEqual([]);
  reader = null;
});

type Rows = { n: number; label: unknown }[];

/** Starts a reader, and resolves with it and its open stream once the labeler's first rows are stored. */
async function reading(
  page: NonNullable<LabelScript['page']>,
  first: Rows,
  timings: LabelScript['timings'] = {},
  waiting: LabelScript['wait'] = wait,
): Promise<{ observed: LabelReader; stream: ScriptedStream }> {
  let live: ScriptedStream | null = null;
  const observed = await labelReader({
    ...{ page, timings, wait: waiting, days: 1 },
    connected: (stream) => {
      // Samples of a stream have connections of their own.
      live ??= stream;
      for (const { n, label } of first.slice(stream.cursor ?? first.length)) stream.send(n, label);
    },
  });
  reader = observed;
  observed.read();
  await until('the stream is read', () => observed.source.progress.contiguous);
  return { observed, stream: live as unknown as ScriptedStream };
}

const rowsUpTo = (count: number): Rows => Array.from({ length: count }, (_, i) => ({ n: i + 1, label: row(i + 1) }));
const rejected: JsonAnswer = { kind: 'status', status: 501, retryAfterMs: null, error: null };
const failed: JsonAnswer = { ...rejected, status: 503 };

/** Returns a frame with one label whose CBOR is deeper than the limits allow. */
function tooDeep(): Uint8Array {
  let nested: unknown = 1;
  for (let depth = 0; depth < inputLimits.labelFrame.depth; depth += 1) nested = [nested];
  return labelsFrame(3, [{ ...(row(3) as object), nested }]);
}

const refusedFrames: readonly (readonly [string, Uint8Array])[] = [
  ['has no number', Buffer.from(garbageFrames['no labels'] as Uint8Array)],
  ['is no CBOR', Buffer.from(garbageFrames['no cbor'] as Uint8Array)],
  ['is a text', Buffer.from('hello')],
  ['has an unknown type', Buffer.from(garbageFrames['unknown type'] as Uint8Array)],
  ['exceeds the limit on elements', labelsFrame(3, [{ ...(row(3) as object), many: Array(60_000).fill(0) }])],
  ['exceeds the limit on depth', tooDeep()],
  ['has too many labels', labelsFrame(3, Array(10_001).fill({}))],
  ['exceeds the limit on bytes', new Uint8Array(16 * 1024 * 1024)],
];

describe('a frame that is not understood', () => {
  test.each(refusedFrames)('loses no label if the pages have it, and makes no gap (%s)', async (_, bytes) => {
    const all = rowsUpTo(2);
    const { observed, stream } = await reading((cursor, limit) => pagesOf(all, cursor, limit), all);
    all.push({ n: 3, label: row(3) });
    stream.raw(bytes);
    all.push({ n: 4, label: row(4) });
    stream.send(4, row(4));
    await until('the rows of both frames are stored', () => observed.stored.has('v3') && observed.stored.has('v4'));
    await until('no hole is left', () => observed.source.progress.holes.length === 0);
    expect(observed.gaps).toEqual([]);
  });

  test('is a gap up to its arrival if the labeler has no pages', async () => {
    const { observed, stream } = await reading(() => rejected, []);
    stream.send(1, row(1));
    await until('the first row is stored', () => observed.stored.has('v1'));
    const before = observed.gaps.length;
    const complete = observed.source.tracker.unreadSince;
    stream.raw(Uint8Array.of(0xff));
    stream.send(3, row(3));
    await until('the gap is recorded', () => observed.gaps.length > before);
    expect(observed.gaps.slice(before)).toMatchObject([{ reason: 'not_observed' }]);
    expect(observed.gaps[before]?.start).toBeLessThanOrEqual(complete ?? 0);
    await until('the position has passed the hole', () => observed.source.position.seq === 3);
  });

  test('is read from the pages once these work again', async () => {
    const all = rowsUpTo(2);
    let failures = 0;
    const { observed, stream } = await reading((cursor, limit) => {
      const fails = all.length > 2 && failures < 3;
      failures += fails ? 1 : 0;
      return fails ? failed : pagesOf(all, cursor, limit);
    }, all);
    all.push({ n: 3, label: row(3) });
    stream.raw(Uint8Array.of(0xff));
    await until('the row is stored', () => observed.stored.has('v3'));
    expect(failures).toBe(3);
    expect(observed.gaps).toEqual([]);
  });

  test('is not passed by a page that a lagging replica serves immediately', async () => {
    const all = rowsUpTo(2);
    let shown = 2;
    const later = Promise.withResolvers<void>();
    const resumeMs = 3_600_000;
    const { observed, stream } = await reading(
      (cursor, limit) => pagesOf(all.slice(0, shown), cursor, limit),
      all,
      { resumeMs },
      // The replica's lag ends when the test ends it.
      (ms, signal) => (ms > resumeMs / 2 ? later.promise : wait(ms, signal)),
    );
    all.push({ n: 3, label: row(3) });
    stream.raw(Uint8Array.of(0xff));
    all.push({ n: 4, label: row(4) });
    stream.send(4, row(4));
    await until('the row after the hole is stored', () => observed.stored.has('v4'));
    expect(observed.source.position.seq ?? 0).toBeLessThan(3);
    expect(observed.source.progress.holes).toHaveLength(1);
    shown = 4;
    later.resolve();
    await until('the row is stored', () => observed.stored.has('v3'));
    expect(observed.gaps).toEqual([]);
  });

  test('is still a hole after a restart of the connection', async () => {
    const all = rowsUpTo(2);
    const { observed, stream } = await reading((cursor, limit) => pagesOf(all, cursor, limit), all);
    all.push({ n: 3, label: row(3) });
    stream.raw(Uint8Array.of(0xff));
    stream.end();
    await until('a second connection is open', () => observed.connections > 1);
    await until('the row is stored', () => observed.stored.has('v3'));
    await until('no hole is left', () => observed.source.progress.holes.length === 0);
    expect(observed.gaps).toEqual([]);
  });
});

test('labels from just before a live stream, which the pages of a lagging replica do not show yet, are read from later pages', async () => {
  const all = rowsUpTo(3);
  let shown = 1;
  const { promise, resolve } = Promise.withResolvers<ScriptedStream>();
  const later = Promise.withResolvers<void>();
  const resumeMs = 3_600_000;
  const observed = await labelReader({
    page: (cursor, limit) => pagesOf(all.slice(0, shown), cursor, limit),
    timings: { resumeMs, confirmMs: resumeMs },
    // Only the wait for the later pages is shorter than these times by the duration of the fill-in.
    wait: (ms, signal) => (ms > resumeMs / 2 && ms < resumeMs ? later.promise : wait(ms, signal)),
    days: 1,
    connected: resolve,
  });
  reader = observed;
  observed.read();
  const stream = await promise;
  await until('the first page is stored', () => observed.stored.has('v1'));
  all.push({ n: 4, label: row(4) });
  stream.send(4, row(4));
  await until('the live row is stored', () => observed.stored.has('v4'));
  shown = 4;
  later.resolve();
  await until('the rows in between are stored', () => observed.stored.has('v2') && observed.stored.has('v3'));
  await until('the position has reached the live row', () => observed.source.position.seq === 4);
  expect(observed.gaps).toEqual([]);
});

test('information of an unknown name is no hole', async () => {
  const all = rowsUpTo(2);
  const { observed, stream } = await reading((cursor, limit) => pagesOf(all, cursor, limit), all);
  stream.raw(infoFrame('Hello', 'nothing was lost'));
  all.push({ n: 3, label: row(3) });
  stream.send(3, row(3));
  await until('the row is stored', () => observed.stored.has('v3'));
  expect(observed.source.progress.holes).toEqual([]);
  expect(observed.quirks).toContain('unknown_frame');
});

/** A wait of the reader for silence, which the test ends. */
interface Silence {
  readonly signal: AbortSignal;
  readonly end: () => void;
}

describe('a stream without new labels', () => {
  // The pages of a hole are requested later than those that confirm the silence.
  const timings = { confirmMs: 3_600_000, resumeMs: 60_000 };
  /** Number of times that the messages are sent during one silence. */
  const times = 5;
  test.each<[string, number, (stream: ScriptedStream) => void]>([
    ['messages of an unknown type', 1, ({ raw }) => raw(Buffer.from(garbageFrames['unknown type'] as Uint8Array))],
    ['information', 1, ({ raw }) => raw(infoFrame('Hello', 'still here'))],
    ['frames without labels', 0, ({ send }) => send(3)],
    ['a known label again', 0, ({ send }) => send(2, row(2))],
  ])('is confirmed by pages although %s arrive all the time', async (_, quirks, sends) => {
    const all = rowsUpTo(2);
    let silence: Silence | null = null;
    const { observed, stream } = await reading(
      (cursor, limit) => pagesOf(all, cursor, limit),
      all,
      timings,
      (ms, signal) => {
        if (ms !== timings.confirmMs) return wait(ms, signal);
        const { promise, resolve } = Promise.withResolvers<void>();
        silence = { signal, end: resolve };
        signal.addEventListener('abort', () => resolve());
        return promise;
      },
    );
    stream.send(2, row(2));
    const unknown = (): number => observed.quirks.filter((quirk) => quirk === 'unknown_frame').length;
    /** Waits until the reader has read everything that was sent before. */
    const isRead = async (seen: number): Promise<void> => {
      stream.raw(infoFrame('Hello', 'the last message'));
      await until('the last message is read', () => unknown() === seen + 1);
    };
    await isRead(0);
    await until('the silence has begun', () => silence !== null);
    const begun = silence as unknown as Silence;
    all.push({ n: 3, label: row(3) });
    for (let sent = 0; sent < times; sent += 1) sends(stream);
    await isRead(1 + times * quirks);
    expect(begun.signal.aborted).toBe(false);
    begun.end();
    await until('the row of the pages is stored', () => observed.stored.has('v3'));
  });
});
