import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newSource } from '../../../harness/labels/reader-ports.ts';
import { silentLog } from '../../ops/log.ts';
import { micros } from '../../store/time.ts';
import { noPosition } from '../label/position.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { positionAfter } from '../state/read-progress.ts';
import type { LastFrame, PositionMove, ReadingEvent } from '../state/reading-events.ts';
import { Source } from '../state/source.ts';
import { DeliveryAccount, passesHole } from './delivery-account.ts';

const start = 1_780_000_000_000_000;
const epoch = micros(start);
const clock = () => epoch;

function sourceOf(): Source {
  return newSource('did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'https://labeler.example', { time: { clock } as never });
}

/** Returns the items that an account reports as unbalanced. */
function closing(received: number, act: (account: DeliveryAccount) => void, source = sourceOf()): number[] {
  const unbalanced: number[] = [];
  const telemetry = { ...noTelemetry, unbalanced: (items: number) => void unbalanced.push(items) };
  const account = new DeliveryAccount(source, { log: silentLog, telemetry }, received);
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
type Step = 'good' | 'bad' | 'page' | 'lagging' | 'reconnect' | 'restart' | 'rejected';

/**
 * Runs a history of a labeler whose frames have one row each. Returns the numbers of the rows that were neither stored,
 * recorded as a gap, nor held as a hole.
 */
function lost(steps: readonly Step[], isAligned: boolean): readonly number[] {
  let source = sourceOf();
  /** Rows that are stored, and rows in a gap. */
  const [stored, inGap] = [new Set<number>(), new Set<number>()];
  const bad = new Set<number>();
  /** Time at which each row last arrived by the stream. */
  const arrived = new Map<number, number>();
  let [count, now] = [0, start];
  let isJoined = true;
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
    arrived.set(seq, now);
    if (bad.has(seq)) {
      apply({ kind: 'hole_found', now: micros(now), epoch, before: null });
      return;
    }
    stored.add(seq);
    source.apply({ kind: 'frames_seen', frames: [frame(seq)] });
    move({ kind: 'frames', last: frame(seq) });
  };
  /** Reads the pages, which show the first rows: a replica may lag behind the stream. */
  const readPages = (shown: number, through: number): void => {
    const next = (): number => (source.position.cursor ?? 0) + 1;
    for (let row = next(); row <= shown; row = next()) {
      stored.add(row);
      // A self-made labeler may number its pages otherwise, so that only some labelers are aligned.
      move({ kind: 'page', cursor: row, tail: isAligned ? `f${row}` : `p${row}` });
    }
    source.apply({ kind: 'holes_closed', through: micros(through) });
    source.apply({ kind: 'caught_up', now: micros(now), reached: epoch, before: { since: epoch, target: epoch } });
    if (!isJoined) source.apply({ kind: 'joined' });
    isJoined = true;
  };
  const connect = (): void => {
    source.apply({ kind: 'stream_opening' });
    const { cursor } = source.progress.stream;
    for (let row = (cursor ?? count) + 1; row <= count; row += 1) deliver(row);
    // The pages from before the first frame of a live stream are read later, while the stream is read.
    isJoined = cursor !== null;
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
    page: () => readPages(count, now),
    lagging: () => readPages(Math.max(0, count - 2), arrived.get(count - 2) ?? start),
    reconnect: connect,
    restart: () => {
      // Only the position and the tracked state survive a restart.
      source = new Source(source, source.tracker, source.position);
      connect();
    },
    rejected: () => apply({ kind: 'holes_left' }),
  };
  connect();
  for (const step of steps) {
    acts[step]();
    if (passesHole(source)) return [-1];
  }
  // The next pages read the holes, and the rows from before the connection.
  if (!isJoined || source.tracker.reading.hole !== null || source.progress.holes.length > 0) readPages(count, now);
  return [...Array(count).keys()].map((i) => i + 1).filter((row) => !stored.has(row) && !inGap.has(row));
}

test('under random histories of good and bad frames, pages, connections and restarts, every row is stored or in a gap', () => {
  const step = fc.constantFrom<Step>('good', 'good', 'bad', 'page', 'lagging', 'reconnect', 'restart', 'rejected');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isAligned) => {
      expect(lost(steps, isAligned)).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});
