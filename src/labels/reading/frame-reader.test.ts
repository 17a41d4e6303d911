import { encode } from '@atcute/cbor';
import { describe, expect, test } from 'vitest';
import { newSource, scriptedPorts } from '../../../harness/labels/label-reader.ts';
import { infoFrame, labelsFrame } from '../../../sim/labelers/wire.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { day, hour, micros, second } from '../../store/time.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { noPosition, type PositionMove } from '../state/reading-events.ts';
import { FrameReader } from './frame-reader.ts';
import { markOf } from './pages.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

const start = 1_780_000_000_000_000;

/** Creates a reader on a clock that a test moves, with an intake that stores every batch in 100 ms. */
function readerAt(begin: number) {
  const time = { now: begin };
  const { ports, gaps, withdrawn, quirks } = scriptedPorts({
    http: {} as HttpClient,
    openStream: () => Promise.reject(new Error('this request was not expected')),
  });
  const own = { ...ports, time: { ...ports.time, epoch: micros(begin - day), clock: () => micros(time.now) } };
  const taken: { rows: number; through?: number; since?: number }[] = [];
  const moves: PositionMove[] = [];
  const intake: Pick<SourceIntake, 'take' | 'applyInTurn'> = {
    applyInTurn: (event) => Promise.resolve(void source.apply(event)),
    take: ({ rows, through, since, move }) => {
      moves.push(move);
      taken.push({ rows: rows.length, through: (through ?? 0) - begin, since: (since ?? 0) - begin });
      time.now += 100_000;
      return Promise.resolve({ stored: rows.length, known: 0, refused: 0 });
    },
  };
  const stop = new AbortController();
  const source = newSource(did, 'https://labeler.example', own);
  const reader = new FrameReader(source, intake as SourceIntake, own, stop.signal);
  const arrives = (seq: number): boolean => {
    const cts = new Date(time.now / 1_000).toISOString();
    return reader.push(labelsFrame(seq, [{ src: did, val: `v${seq}`, cts }]));
  };
  const end = (): void => {
    stop.abort();
    reader.release();
  };
  return { time, source, reader, arrives, taken, moves, gaps, withdrawn, quirks, end };
}

const stream = { openedAt: micros(start), resume: () => undefined, holes: { start: () => undefined } };

test('the rows of a stream are taken with the time up to which nothing else that arrived waits, and with the time since which they waited', async () => {
  const { time, reader, arrives, taken, end } = readerAt(start);
  let isPaused = false;
  for (let seq = 1; seq <= 300; seq += 1) {
    time.now = start + seq * 1_000;
    isPaused = arrives(seq) || isPaused;
  }
  const resumed: number[] = [];
  const reading = reader.run({
    ...stream,
    filled: new Promise(() => undefined),
    resume: () => void resumed.push(time.now),
  });
  reader.close();
  expect(await reading).toMatchObject({ kind: 'ended' });
  // The connection paused when 256 messages waited; what the labeler held back since then has not arrived yet.
  expect([isPaused, resumed.length > 0]).toEqual([true, true]);
  expect(taken).toEqual([
    { rows: 256, through: 256_000, since: 1_000 },
    { rows: 44, through: 256_000, since: 256_000 },
  ]);
  end();
});

test('a replayed stream that becomes live is complete only up to the oldest message that waits', async () => {
  const { time, source, reader, arrives, end } = readerAt(start);
  source.apply({ kind: 'replay_found', cursor: 0 });
  source.apply({ kind: 'stream_opening' });
  for (let seq = 1; seq <= 300; seq += 1) {
    time.now = start + seq * 1_000;
    arrives(seq);
  }
  const filled = Promise.resolve({ joined: false, reset: false, fault: null, replayFrom: null });
  const completed: number[] = [];
  const apply = source.apply.bind(source);
  source.apply = (event) => {
    const change = apply(event);
    if (event.kind === 'caught_up') completed.push((source.tracker.tracked.completeThrough ?? 0) - start);
    return change;
  };
  await filled;
  const reading = reader.run({ ...stream, filled });
  reader.close();
  await reading;
  expect(completed).toEqual([256_000]);
  end();
});

describe('the outage of a labeler whose pages fail', () => {
  const down = micros(start - 2 * hour);
  const filled = Promise.resolve({ joined: false, reset: false, fault: null, replayFrom: null });

  /** Reads the frames of a connection `seconds` after its opening, after an outage, and returns what was recorded. */
  async function readAfter(begins: 'resumed' | 'replay' | 'live', seconds: number, ...frames: readonly Uint8Array[]) {
    const { time, source, reader, gaps, withdrawn, end } = readerAt(start);
    const position = { ...noPosition, seq: 100, seqTail: 'known' };
    if (begins === 'resumed') source.apply({ kind: 'committed', move: { kind: 'stay' }, position });
    if (begins === 'replay') source.apply({ kind: 'replay_found', cursor: 0 });
    source.apply({ kind: 'asked', now: down });
    source.apply({ kind: 'answered', now: down, dated: 1, undated: 0, live: null });
    source.apply({ kind: 'failed', now: micros(start), fault: 'failed' });
    source.apply({ kind: 'stream_opening' });
    time.now = start + seconds * second;
    for (const frame of frames) reader.push(frame);
    const reading = reader.run({ ...stream, filled });
    reader.close();
    await reading;
    end();
    const { outageSince, whole, tracked } = source.tracker.reading;
    return { gaps, withdrawn, outageSince, whole, completeThrough: tracked.completeThrough };
  }

  const outdated = infoFrame('OutdatedCursor', 'the cursor is too old');
  const labelAt = (seq: number, authored: number): Uint8Array =>
    labelsFrame(seq, [{ src: did, val: `v${seq}`, cts: new Date(authored / 1_000).toISOString() }]);
  const live = start + second;
  const reset = { source: did, reason: 'cursor_reset', start: down, end: start + 2 * second };

  test.each([
    ['reports that its cursor is too old', [outdated, labelAt(500, live)]],
    ['does not begin with the last row', [labelAt(500, live)]],
  ])('ends with the first live label of a stream that %s, and the gap of the reset stays', async (_, frames) => {
    expect(await readAfter('resumed', 2, ...frames)).toEqual({
      gaps: [reset],
      withdrawn: [{ source: did, reason: 'source_unavailable', start: down, end: start + 2.1 * second }],
      ...{ outageSince: null, whole: true, completeThrough: start + 2 * second },
    });
  });

  test('continues while a stream after a reset delivers only labels from before its opening', async () => {
    expect(await readAfter('resumed', 2, outdated, labelAt(500, start - hour), labelAt(501, start - second))).toEqual({
      ...{ gaps: [reset], withdrawn: [] },
      ...{ outageSince: down, whole: false, completeThrough: null },
    });
  });

  test.each([
    ['ends with a label whose date is 300 s after the opening and 2 s ahead', 298, 300, true],
    [
      'continues after a label with an earlier date that is ahead, because it may be from before the opening',
      297,
      299,
      false,
    ],
    ['continues after a label that is refused because its date is too far ahead', 2, 303, false],
  ])('%s', async (_, seconds, authored, ends) => {
    const { outageSince, whole } = await readAfter('replay', seconds, labelAt(500, start + authored * second));
    expect({ outageSince, whole }).toEqual({ outageSince: ends ? null : down, whole: ends });
  });

  test('continues while a stream without a cursor delivers live labels, because a later connection may replay the missed ones', async () => {
    expect(await readAfter('live', 2, labelAt(500, live))).toEqual({
      ...{ gaps: [], withdrawn: [] },
      ...{ outageSince: down, whole: false, completeThrough: null },
    });
  });
});

test('a message without labels that repeats the last number does not hide the last row', async () => {
  const { source, reader, moves, end } = readerAt(start);
  const position = { ...noPosition, seq: 4, seqTail: 'known' };
  source.apply({ kind: 'committed', move: { kind: 'stay' }, position });
  const read = async (...frames: Uint8Array[]): Promise<unknown> => {
    for (const frame of frames) reader.push(frame);
    const reading = reader.run({ ...stream, filled: new Promise(() => undefined) });
    reader.close();
    await reading;
    return moves.splice(0);
  };
  const label = { src: did, val: 'v' };
  expect(await read(labelsFrame(4, []))).toEqual([{ kind: 'frames', last: { seq: 4, tail: 'known' } }]);
  expect(await read(labelsFrame(5, [label]), labelsFrame(5, []))).toEqual([
    { kind: 'frames', last: { seq: 5, tail: markOf(label) } },
  ]);
  expect(await read(labelsFrame(6, []))).toEqual([{ kind: 'frames', last: { seq: 6, tail: null } }]);
  end();
});

test('the rows of messages that a failing connection leaves unread stay after the time up to which the source is complete', async () => {
  const { time, reader, arrives, taken, end } = readerAt(start);
  for (let seq = 1; seq <= 3; seq += 1) {
    time.now = start + seq * 1_000;
    if (seq === 2) reader.push(Buffer.concat([encode({ op: -1 }), encode({ error: 'ConsumerTooSlow' })]));
    else arrives(seq);
  }
  time.now = start + 9_000;
  expect(await reader.run({ ...stream, filled: new Promise(() => undefined) })).toMatchObject({ kind: 'ended' });
  expect(taken).toEqual([{ rows: 1, through: 1_000, since: 1_000 }]);
  end();
});

describe('a stream that resumes at frame 100', () => {
  const label = (seq: number, val = `v${seq}`) => ({
    src: did,
    val,
    cts: new Date((start + seq) / 1_000).toISOString(),
  });

  /** Reads the frames of a connection that resumes at frame 100, from cursor 99. */
  async function resume(...frames: readonly Uint8Array[]) {
    const { source, reader, taken, moves, gaps, quirks, end } = readerAt(start);
    const position = { ...noPosition, seq: 100, seqTail: markOf(label(100)) };
    source.apply({ kind: 'committed', move: { kind: 'stay' }, position });
    source.apply({ kind: 'stream_opening' });
    const { cursor } = source.progress.stream;
    for (const frame of frames) reader.push(frame);
    const reading = reader.run({ ...stream, filled: new Promise(() => undefined) });
    reader.close();
    const outcome = (await reading).kind;
    end();
    return {
      cursor,
      outcome,
      rows: taken.map(({ rows }) => rows),
      moves,
      gaps: gaps.map(({ reason }) => reason),
      quirks,
    };
  }

  test.each([
    ['the frame of its cursor', [99, 100, 101]],
    ['the frame after its cursor', [100, 101]],
  ])('may begin with %s', async (_, numbers) => {
    expect(await resume(...numbers.map((seq) => labelsFrame(seq, [label(seq)])))).toEqual({
      ...{ cursor: 99, outcome: 'ended', gaps: [], quirks: [] },
      rows: [1],
      moves: [{ kind: 'frames', last: { seq: 101, tail: markOf(label(101)) } }],
    });
  });

  test('is of another database if another label has number 100, even after the frame of its cursor', async () => {
    expect(await resume(labelsFrame(99, [label(99)]), labelsFrame(100, [label(100, 'another')]))).toEqual({
      ...{ cursor: 99, outcome: 'reset', rows: [], moves: [] },
      ...{ gaps: ['cursor_reset'], quirks: ['tail_missing'] },
    });
  });

  test('is of another database if only the frame of its cursor precedes frame 101', async () => {
    const { gaps, quirks } = await resume(labelsFrame(99, [label(99)]), labelsFrame(101, [label(101)]));
    expect({ gaps, quirks }).toEqual({ gaps: ['cursor_reset'], quirks: ['tail_missing'] });
  });
});
