import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answered,
  asked,
  failed,
  newSource,
  type OwnPorts,
  scriptedPorts,
} from '../../../harness/labels/label-reader.ts';
import { quickTimings } from '../../../harness/labels/label-station.ts';
import { modelRun } from '../../../harness/model/run.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { silentLog } from '../../ops/log.ts';
import { hour, micros, minute, second } from '../../store/time.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import {
  type LastFrame,
  noPosition,
  type PositionMove,
  type ReadingEvent,
  readPosition,
} from '../state/reading-events.ts';
import { positionAfter, Source } from '../state/source.ts';
import { Tracker } from '../state/tracker.ts';
import { createIntake, DeliveryAccount, passesHole } from './intake.ts';
import { batchOf } from './ports.ts';

const filledInName = 'filled-in';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const signal = new AbortController().signal;
const unasked = {
  http: {} as HttpClient,
  openStream: () => Promise.reject(new Error('this request was not expected')),
};

function row(val: string): unknown {
  return { src: did, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val, cts: new Date().toISOString() };
}

/** Creates the intake of a source, and a list of its recorded steps in order. */
function intakeWith(over: OwnPorts = {}) {
  const steps: string[] = [];
  const { ports } = scriptedPorts({
    ...unasked,
    gaps: { change: ({ gap }) => Promise.resolve(void steps.push(`gap ${gap.reason}`)) },
    accept: ({ observations, positions }) => {
      const cursor = readPosition(positions[0]?.value ?? '')?.cursor;
      steps.push(`commit of ${observations.length} at ${String(cursor)}, in memory ${String(source.position.cursor)}`);
      return Promise.resolve(observations.length);
    },
    ...over,
  });
  const source = newSource(did, 'https://labeler.example', ports);
  return { steps, ports, source, intake: createIntake(source, ports, () => undefined) };
}

const page = (cursor: number, ...rows: unknown[]) => ({
  ...{ rows, transport: 'poll' as const },
  move: { kind: 'page' as const, cursor, tail: 'p' },
});

test('a gap is recorded before the position of the page that causes it is committed', async () => {
  const { steps, ports, source, intake } = intakeWith();
  const now = ports.time.clock();
  source.tracker.apply(asked(now));
  source.tracker.apply(answered(now, { dated: 1, undated: 0 }));
  source.tracker.apply(failed(micros(now - 2 * hour), 'failed'));
  source.tracker.apply({ kind: 'replay_started', since: micros(now - 3 * hour) });
  await intake.take(page(7, row('a')), signal);
  expect(steps).toEqual(['gap source_unavailable', 'commit of 1 at 7, in memory null']);
});

test('the position in memory moves only after the rows of the page are durable', async () => {
  const { steps, source, intake } = intakeWith();
  await intake.take(page(7, row('a')), signal);
  expect([steps, source.position.cursor]).toEqual([['commit of 1 at 7, in memory null'], 7]);
  const failing = intakeWith({ accept: () => Promise.reject(new Error('full')) });
  await expect(failing.intake.take(page(7, row('a')), signal)).rejects.toThrow('full');
  expect(failing.source.position).toEqual(noPosition);
});

test('a position is computed from the preceding position, even if two pages arrive in one turn', async () => {
  const { source, intake } = intakeWith();
  const last = { seq: 9, tail: 'f' };
  await Promise.all([
    intake.take(page(7, row('a')), signal),
    intake.take({ rows: [row('b')], transport: 'stream', move: { kind: 'frames', last } }, signal),
    intake.applyInTurn({ kind: 'joined' }),
  ]);
  expect(source.position).toEqual({ seq: 9, seqTail: 'f', cursor: 7, cursorTail: 'p' });
});

test('labels that were authored before a request to remove the rows of their source are not accepted again', async () => {
  const requested = micros(Date.now() * 1000);
  const at = (ms: number) => ({ ...(row('a') as object), cts: new Date(requested / 1000 + ms).toISOString() });
  const { intake } = intakeWith({ purges: { requestedAt: (source) => (source === did ? requested : null) } });
  const rows = [at(-1), at(0), at(1)];
  expect(await intake.take(page(7, ...rows), signal)).toEqual({ stored: 2, known: 0, refused: 1 });
  const other = intakeWith({ purges: { requestedAt: (source) => (source === did ? null : requested) } });
  expect(await other.intake.take(page(7, ...rows), signal)).toEqual({ stored: 3, known: 0, refused: 0 });
});

test('pages that wait for their turn when reading ends are neither checked nor committed', async () => {
  const stop = new AbortController();
  const { steps, ports, intake } = intakeWith({
    accept: ({ observations }) => {
      steps.push(`commit of ${observations.length}`);
      stop.abort();
      return Promise.resolve(observations.length);
    },
  });
  const checks: number[] = [];
  const { verify } = ports.acceptance;
  Object.assign(ports.acceptance, {
    verify: (...given: Parameters<typeof verify>) => {
      checks.push(given[1].length);
      return verify(...given);
    },
  });
  const results = await Promise.allSettled([
    ...[1, 2, 3].map((cursor) => intake.take(page(cursor, row('a'), row('b')), stop.signal)),
    intake.take({ rows: [], transport: 'poll', move: { kind: 'unplaced', start: 1 } }, stop.signal),
    intake.keep([row('c')], stop.signal),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', ...Array.from({ length: 4 }, () => 'rejected')]);
  expect(checks).toEqual([2]);
  expect(steps).toEqual(['commit of 2']);
});

test('every row of a page has an outcome', async () => {
  const stored = [2, 0];
  const { intake } = intakeWith({ accept: () => Promise.resolve(stored.shift() ?? 0) });
  const refused = { ...(row('x') as object), val: 7 };
  expect(await intake.take(page(1, row('a'), row('b'), refused), signal)).toEqual({ stored: 2, known: 0, refused: 1 });
  expect(await intake.take(page(2, row('b'), refused), signal)).toEqual({ stored: 0, known: 1, refused: 1 });
});

test('sampled rows are stored without moving the position', async () => {
  const { steps, source, intake } = intakeWith();
  await intake.keep([row('a'), row('b'), { src: did }], signal);
  expect(steps).toEqual(['commit of 2 at undefined, in memory null']);
  expect(source.position).toEqual(noPosition);
});

test('rows that are not stored do not count against the daily cap', async () => {
  const { ports, intake } = intakeWith({ accept: () => Promise.resolve(1) });
  await intake.take(page(1, row('a'), row('b'), row('c'), row('d')), signal);
  const one = ports.acceptance.cap.usedBytes.seeded;
  await intake.take(page(2, row('e')), signal);
  expect(ports.acceptance.cap.usedBytes.seeded).toBeCloseTo(2 * one, -1);
});

test('a row is live if the reader that receives the row has read all earlier labels, but not if the row is filled in or sampled', async () => {
  const live: (boolean | undefined)[] = [];
  const { ports, source, intake } = intakeWith({
    accept: ({ observations }) => {
      live.push(...observations.map((observation) => observation.live));
      return Promise.resolve(observations.length);
    },
    // A poll interval is longer than this test takes.
    timings: { ...quickTimings, pollMs: 120_000 },
  });
  const { pollMs } = ports.time.timings;
  const take = (transport: 'poll' | 'stream', val: string) =>
    intake.take({ rows: [row(val)], transport, move: { kind: 'stay' } }, signal);
  const before = (milliseconds: number) => micros(ports.time.clock() - milliseconds * 1000);
  await take('poll', 'of a first read');
  source.apply({ kind: 'completed', through: before(3 * pollMs) });
  await take('poll', 'of an outage');
  source.apply({ kind: 'completed', through: before(pollMs) });
  await take('stream', 'of a replay');
  await take('poll', 'of a poll after a poll');
  const { unreadSince: since } = source.tracker;
  source.apply({
    kind: 'caught_up',
    now: ports.time.clock(),
    through: ports.time.clock(),
    reached: before(0),
    before: { since: since ?? before(0), target: before(0) },
  });
  await take('stream', 'of a stream that is caught up');
  await intake.keep([row('sampled')], signal);
  expect(live).toEqual([false, false, false, true, true, undefined]);
});

test('rows that waited for over 90 seconds, and rows of pages that a live stream did not deliver for minutes, are not live', async () => {
  const live: (boolean | undefined)[] = [];
  const names: string[][] = [];
  const { ports, source, intake } = intakeWith({
    accept: (page) => {
      const { observations, positions } = batchOf(ports.time.clock(), [page]);
      names.push(positions.map(({ endpoint }) => endpoint));
      return Promise.resolve(live.push(...observations.map((observation) => observation.live)));
    },
    // Two poll intervals are longer than this test takes, and shorter than the time before the stream.
    timings: { ...quickTimings, pollMs: 120_000 },
  });
  const ago = (seconds: number) => micros(ports.time.clock() - seconds * second);
  const take = (val: string, waited?: number) => {
    const times = waited === undefined ? {} : { since: ago(waited), through: ago(waited) };
    const transport = waited === undefined ? 'poll' : 'stream';
    return intake.take({ rows: [row(val)], transport, ...times, move: { kind: 'stay' } }, signal);
  };
  source.apply({ kind: 'fill_in_abandoned', through: ago(600) });
  await take('of a page');
  await take('waited', 400);
  await take('read at once', 0);
  await take('of a page soon after the stream');
  expect(live).toEqual([false, false, true, true]);
  // The time since the source was complete is a catch-up.
  const { endpoint } = source;
  expect(names).toEqual([[endpoint, filledInName], [endpoint], [endpoint], [endpoint]]);
});

test('labels of a hole that a page delivers are read late since the start of the hole, although later labels of the stream were live', async () => {
  const catchUps: unknown[] = [];
  const { ports, source, intake } = intakeWith({
    accept: (accepted) => {
      const { observations, positions } = batchOf(now, [accepted]);
      catchUps.push(...positions.filter(({ endpoint }) => endpoint === filledInName));
      return Promise.resolve(observations.length);
    },
  });
  const since = micros(Math.floor(ports.time.clock() / minute) * minute);
  let now = since;
  Object.assign(ports.time, { clock: () => now });
  const before = { since, target: since };
  source.apply({ kind: 'caught_up', now, through: now, reached: since, before });
  source.apply({ kind: 'hole_found', now, epoch: ports.time.epoch, before: null });
  while (now < since + 13 * minute) {
    now = micros(now + 10 * second);
    await intake.take({ rows: [row(`live ${now}`)], transport: 'stream', move: { kind: 'stay' } }, signal);
  }
  expect(catchUps).toEqual([]);
  await intake.take(page(7, row('of the hole')), signal);
  const value = `${(since / minute).toString(36)}.${(15).toString(36)}`;
  expect(catchUps).toEqual([{ source: did, endpoint: filledInName, value }]);
});

test('a source counts as dated after a label of its own, but not after a label that it relays from another labeler', async () => {
  const { source, intake } = intakeWith();
  const relayed = { ...(row('a') as object), src: 'did:plc:cccccccccccccccccccccccc' };
  await intake.take(page(7, relayed, { src: did }), signal);
  expect(source.tracker.tracked).toMatchObject({ state: 'established', dated: false });
  await intake.take(page(8, row('a')), signal);
  expect(source.tracker.tracked.dated).toBe(true);
});

const start = 1_780_000_000_000_000;
const epoch = micros(start);
const clock = () => epoch;

function sourceOf(): Source {
  return newSource('did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'https://labeler.example', { time: { clock } as never });
}

/** Collects the items that accounts report as unbalanced. */
function balances() {
  const unbalanced: number[] = [];
  const telemetry = { ...noTelemetry, unbalanced: (items: number) => void unbalanced.push(items) };
  return { unbalanced, report: { log: silentLog, telemetry } };
}

/** Returns the items that an account reports as unbalanced. */
function closing(received: number, act: (account: DeliveryAccount) => void, source = sourceOf()): number[] {
  const { unbalanced, report } = balances();
  const account = new DeliveryAccount(source, report, received);
  act(account);
  account.close();
  return unbalanced;
}

describe('the account of a delivery', () => {
  test.each<[string, number, (account: DeliveryAccount) => void, number[]]>([
    ['every row has an outcome', 6, (one) => one.take({ stored: 3, known: 2, refused: 1 }), []],
    ['a message is a hole', 1, (one) => one.settle('hole', 1), []],
    ['the rest is left', 5, (one) => one.leave(), []],
    ['a row has no outcome', 6, (one) => one.take({ stored: 3, known: 2, refused: 0 }), [1]],
    ['a row has two outcomes', 1, (one) => one.take({ stored: 1, known: 1, refused: 0 }), [1]],
    ['nothing has an outcome', 4, () => undefined, [4]],
  ])('reports the items without an outcome if %s', (_, received, act, expected) => {
    expect(closing(received, act)).toEqual(expected);
  });

  test('reports a hole that the position has passed', () => {
    const source = sourceOf();
    source.apply({ kind: 'hole_found', now: epoch, epoch, before: { seq: 4, tail: 'f4' } });
    expect(closing(0, () => undefined, source)).toEqual([]);
    source.apply({ kind: 'committed', move: { kind: 'stay' }, position: { ...noPosition, seq: 5, seqTail: 'f5' } });
    expect(closing(0, () => undefined, source)).toEqual([1]);
  });
});

/** One step of a random history of a stream with pages. */
type Step =
  | 'good'
  | 'bad'
  | 'refused'
  | 'repeat'
  | 'swapped'
  | 'page'
  | 'lagging'
  | 'reconnect'
  | 'restart'
  | 'rejected';

/**
 * Runs a history of a labeler whose frames have one row each. Returns the numbers of the rows that were neither stored,
 * refused, recorded as a gap, nor held as a hole; or what the accounts of the deliveries report, below zero.
 */
function lost(steps: readonly Step[], isAligned: boolean): readonly number[] {
  let source = sourceOf();
  /** Rows that are stored, and rows in a gap. */
  const [stored, inGap] = [new Set<number>(), new Set<number>()];
  const [bad, refused] = [new Set<number>(), new Set<number>()];
  const { unbalanced, report } = balances();
  /** Time at which each row first arrived by the stream. */
  const arrived = new Map<number, number>();
  let [count, now] = [0, start];
  let isJoined = true;
  /** Number of rows at the start of the connection, which its first pages show. */
  let countBefore = 0;
  const frame = (seq: number): LastFrame => ({ seq, tail: `f${seq}` });
  const move = (to: PositionMove): void => {
    source.apply({ kind: 'committed', move: to, position: positionAfter(source.progress, to) });
  };
  const apply = (event: ReadingEvent): void => {
    const change = source.apply(event);
    const passed = [...Array(count + 1).keys()].filter((row) => !stored.has(row) && bad.has(row));
    if (change?.kind === 'record') for (const row of passed) inGap.add(row);
  };
  const deliver = (seq: number): void => {
    now += 1;
    if (!arrived.has(seq)) arrived.set(seq, now);
    const account = new DeliveryAccount(source, report, 1);
    if (bad.has(seq)) {
      apply({ kind: 'hole_found', now: micros(now), epoch, before: null });
      account.settle('hole', 1);
      account.close();
      return;
    }
    account.settle(refused.has(seq) ? 'refused' : stored.has(seq) ? 'known' : 'stored', 1);
    if (!refused.has(seq)) stored.add(seq);
    // The reader stores a frame with a lower number than the one before it, but the position stays.
    const isLower = seq < (source.position.seq ?? source.progress.live?.seq ?? -1);
    source.apply({ kind: 'frames_seen', frames: isLower ? [] : [frame(seq)] });
    move({ kind: 'frames', last: isLower ? null : frame(seq) });
    account.close();
  };
  /** Reads the pages, which show the first rows: a replica may lag behind the stream. */
  const readPages = (shown: number, through: number): void => {
    const next = (): number => (source.position.cursor ?? 0) + 1;
    for (let row = next(); row <= shown; row = next()) {
      if (!refused.has(row)) stored.add(row);
      // A self-made labeler may number its pages otherwise, so that only some labelers are aligned.
      move({ kind: 'page', cursor: row, tail: isAligned ? `f${row}` : `p${row}` });
    }
    source.apply({ kind: 'holes_closed', through: micros(through) });
    const before = { since: epoch, target: epoch };
    source.apply({ kind: 'caught_up', now: micros(now), through: micros(now), reached: epoch, before });
    if (!isJoined) source.apply({ kind: 'joined' });
    isJoined = true;
  };
  const connect = (): void => {
    source.apply({ kind: 'stream_opening' });
    const { cursor } = source.progress.stream;
    for (let row = (cursor ?? count) + 1; row <= count; row += 1) deliver(row);
    // The pages from before the first frame of a live stream are read later, while the stream is read.
    isJoined = cursor !== null;
    countBefore = count;
  };
  const acts: Readonly<Record<Step, () => void>> = {
    good: () => {
      count += 1;
      deliver(count);
    },
    bad: () => {
      count += 1;
      bad.add(count);
      deliver(count);
    },
    refused: () => {
      count += 1;
      refused.add(count);
      deliver(count);
    },
    repeat: () => {
      // A labeler repeats only frames of the connection.
      if (count > countBefore) deliver(Math.max(countBefore + 1, count - 1));
    },
    swapped: () => {
      count += 2;
      deliver(count);
      deliver(count - 1);
    },
    page: () => readPages(count, now),
    lagging: () => readPages(Math.max(isJoined ? 0 : countBefore, count - 2), arrived.get(count - 2) ?? start),
    reconnect: connect,
    restart: () => {
      // Only the position and the tracked state survive a restart.
      source = new Source(source, new Tracker(source.did, source.tracker.tracked), source.position);
      connect();
    },
    rejected: () => apply({ kind: 'holes_left' }),
  };
  connect();
  for (const step of steps) {
    acts[step]();
    if (passesHole(source)) return [-1];
    if (unbalanced.length > 0) return unbalanced.map((items) => -items);
  }
  // The next pages read the holes, and the rows from before the connection.
  if (!isJoined || source.tracker.reading.hole !== null || source.progress.holes.length > 0) readPages(count, now);
  return [...Array(count).keys()]
    .map((i) => i + 1)
    .filter((row) => !stored.has(row) && !refused.has(row) && !inGap.has(row));
}

test('under random histories of good, bad and refused frames in any order, pages, connections and restarts, every row is stored or in a gap', () => {
  const frames: readonly Step[] = ['good', 'good', 'good', 'bad', 'refused', 'repeat', 'swapped'];
  const others: readonly Step[] = ['page', 'lagging', 'reconnect', 'restart', 'rejected'];
  const history = fc.record({
    steps: fc.array(fc.constantFrom(...frames, ...others), { maxLength: 40 }),
    isAligned: fc.boolean(),
  });
  fc.assert(
    fc.property(history, ({ steps, isAligned }) => {
      expect(lost(steps, isAligned)).toEqual([]);
    }),
    modelRun(3_000),
  );
});
