import { describe, expect, test } from 'vitest';
import { isUsable, type Position, Progress } from './position.ts';

/** Number of counted events that stands for all of the same number. */
const allAtValue = 2 ** 31;

type Verdict = ReturnType<Progress['take']>;

/** Feeds times (or [seq, time] pairs) to a position. Returns the verdicts. */
function feed(progress: Progress, events: readonly (number | readonly [number | null, number])[]): Verdict[] {
  return events.map((event) =>
    typeof event === 'number' ? progress.take(null, event, false) : progress.take(event[0], event[1], false),
  );
}

/** Feeds creates with numbers and times to a position. Returns the verdicts. */
function feedCreates(progress: Progress, events: readonly (readonly [number, number])[]): Verdict[] {
  return events.map(([seq, timeUs]) => progress.take(seq, timeUs, true));
}

function resumedAt(position: Position): Progress {
  const progress = new Progress(position);
  progress.resume();
  return progress;
}

const at = (value: number, counted = 1): Position => ({ kind: 'time', value, counted, timeUs: value });

describe('a resume by time', () => {
  test('skips all events before the position and the already counted events at the position, and counts all other events', () => {
    const progress = resumedAt(at(100, 2));
    expect(feed(progress, [98, 99, 100, 100, 100, 101])).toEqual([
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'counted',
      'counted',
    ]);
    expect(progress.continuous).toBe(true);
    expect(progress.position).toEqual(at(101));
  });

  test('is not continuous if no event has the time of the position, because the cursor was clamped or the event was lost', () => {
    const clamped = resumedAt(at(100));
    expect(feed(clamped, [150])).toEqual(['counted']);
    expect(clamped.continuous).toBe(false);
    const gone = resumedAt(at(100));
    expect(feed(gone, [90, 150])).toEqual(['skipped', 'counted']);
    expect(gone.continuous).toBe(false);
  });

  test('is continuous if no event at the position was counted and the host sends an event before the position', () => {
    const progress = resumedAt(at(100, 0));
    expect(feed(progress, [99, 101])).toEqual(['skipped', 'counted']);
    expect(progress.continuous).toBe(true);
  });
});

describe('a resume by seq', () => {
  const bySeq: Position = { kind: 'seq', value: 7, counted: 1, timeUs: 100 };

  test('continues at the next number if the host repeats the event at the position', () => {
    const progress = resumedAt(bySeq);
    expect(
      feed(progress, [
        [6, 90],
        [7, 100],
        [8, 100],
      ]),
    ).toEqual(['skipped', 'skipped', 'counted']);
    expect(progress.continuous).toBe(true);
  });

  test('is not continuous if the host does not repeat the event at the position, because the host may use its number again', () => {
    const progress = resumedAt(bySeq);
    expect(
      feed(progress, [
        [6, 90],
        [8, 101],
      ]),
    ).toEqual(['skipped', 'counted']);
    expect(progress.continuous).toBe(false);
  });

  test('is not continuous if numbers are missing', () => {
    const progress = resumedAt(bySeq);
    expect(feed(progress, [[12, 180]])).toEqual(['counted']);
    expect(progress.continuous).toBe(false);
  });

  test('counts an event with an earlier time, and keeps the latest time', () => {
    const progress = resumedAt(bySeq);
    expect(
      feed(progress, [
        [8, 110],
        [9, 105],
      ]),
    ).toEqual(['counted', 'counted']);
    expect(progress.position).toEqual({ kind: 'seq', value: 9, counted: 1, timeUs: 110 });
  });

  test.each([
    ['from the number of the position', 7],
    ['from an earlier number', 3],
    ['at the present, which has an earlier number', 5],
  ])('skips later events with numbers that were read before, %s, and is not continuous', (_, first) => {
    const progress = resumedAt(bySeq);
    const again = Array.from({ length: 8 - first }, (_event, at) => [first + at, 200 + at] as const);
    expect(feed(progress, again)).toEqual(['reused', ...again.slice(1).map(() => 'skipped')]);
    // The next 256 events may also have been counted, because the host sends them in another order.
    expect(feed(progress, [[263, 249]])).toEqual(['skipped']);
    expect(progress.position).toEqual(bySeq);
    expect(feed(progress, [[264, 250]])).toEqual(['counted']);
    expect(progress.continuous).toBe(false);
    expect(feed(progress, [[265, 251]])).toEqual(['counted']);
    expect(progress.continuous).toBe(true);
  });

  test('skips events after a row with a number that was read before and a later time, but not after a row that was read before', () => {
    const reading = () => {
      const progress = new Progress(null);
      progress.goLive(false);
      expect(feed(progress, [[7, 100]])).toEqual(['counted']);
      return progress;
    };
    const progress = reading();
    progress.resume();
    expect([progress.pass(6, 200), progress.pass(7, 200)]).toEqual(['reused', 'skipped']);
    expect(feed(progress, [[8, 201]])).toEqual(['skipped']);
    // The rows have the later time of their `sync`, which is itself a row.
    const known = reading();
    expect([known.pass(8, 150), known.pass(9, 150)]).toEqual(['counted', 'counted']);
    known.resume();
    expect(feed(known, [[7, 100]])).toEqual(['skipped']);
    expect([known.pass(8, 150), known.pass(9, 150)]).toEqual(['skipped', 'skipped']);
    expect(feed(known, [[10, 160]])).toEqual(['counted']);
    expect(known.continuous).toBe(true);
    // The time of the rows up to a stored position is not known.
    const stored = resumedAt(bySeq);
    expect([stored.pass(6, 150), stored.pass(7, 150)]).toEqual(['skipped', 'skipped']);
    expect(feed(stored, [[8, 160]])).toEqual(['counted']);
    expect(stored.continuous).toBe(true);
  });

  test('finds a new numbering if the number is far smaller, or if an hour has passed', () => {
    expect(feed(resumedAt({ ...bySeq, value: 1_000_008 }), [[7, 200]])).toEqual(['renumbered']);
    expect(feed(resumedAt({ ...bySeq, value: 1_000_007 }), [[7, 200]])).toEqual(['reused']);
    const progress = resumedAt(bySeq);
    expect(
      feed(progress, [
        [5, 200],
        [6, 100 + 3_600_000_000],
        [6, 101 + 3_600_000_000],
      ]),
    ).toEqual(['reused', 'skipped', 'renumbered']);
  });

  test('continues by time if the host no longer sends numbers', () => {
    const progress = resumedAt(bySeq);
    expect(
      feed(progress, [
        [null, 99],
        [null, 100],
        [null, 101],
      ]),
    ).toEqual(['skipped', 'skipped', 'counted']);
    expect(progress.position).toEqual(at(101));
  });
});

describe('continuous reading', () => {
  test('counts neither an event before the position, nor an event that was already counted and is repeated by the host', () => {
    const progress = new Progress(null);
    progress.goLive(false);
    expect(feed(progress, [100, 101, 101, 99, 100, 101, 101, 101, 102])).toEqual([
      'counted',
      'counted',
      'counted',
      'late_or_repeat',
      'late_or_repeat',
      'late_or_repeat',
      'late_or_repeat',
      'counted',
      'counted',
    ]);
  });

  test('counts all events of a batch that share one time', () => {
    const progress = new Progress(null);
    progress.goLive(false);
    expect(feed(progress, [100, 100, 100])).toEqual(['counted', 'counted', 'counted']);
    expect(progress.position).toEqual(at(100, 3));
  });
});

describe('creates, which may be rows of a download of the repositories,', () => {
  const bySeq: Position = { kind: 'seq', value: 7, counted: 1, timeUs: 100 };

  test('are skipped at the beginning of a backfill, even if the host sends earlier events, until an event of another kind', () => {
    for (const before of [[], [[40, 90]]] as const) {
      const progress = resumedAt(at(100, 0));
      expect(feedCreates(progress, [...before, [41, 101], [42, 102]]).slice(before.length)).toEqual([
        'skipped',
        'skipped',
      ]);
      expect(progress.position).toEqual(at(100, 0));
      expect(feed(progress, [[43, 103]])).toEqual(['counted']);
      expect(progress.continuous).toBe(false);
      expect(feedCreates(progress, [[44, 104]])).toEqual(['counted']);
      expect(progress.continuous).toBe(true);
    }
  });

  test('are counted if the replay continues the position', () => {
    expect(feedCreates(resumedAt(bySeq), [[8, 101]])).toEqual(['counted']);
    expect(
      feedCreates(resumedAt(bySeq), [
        [7, 100],
        [8, 101],
      ]),
    ).toEqual(['skipped', 'counted']);
  });

  test('are skipped after numbers that are used again', () => {
    const reused = resumedAt(bySeq);
    expect(
      feedCreates(reused, [
        [7, 200],
        [264, 250],
      ]),
    ).toEqual(['reused', 'skipped']);
    expect(feed(reused, [[265, 251]])).toEqual(['counted']);
    expect(reused.continuous).toBe(false);
  });

  test('begin only at a time of which no event was skipped, because the events of a commit share their time', () => {
    const reused = resumedAt(bySeq);
    expect(
      feed(reused, [
        [7, 200],
        [263, 250],
        [264, 250],
        [265, 251],
      ]),
    ).toEqual(['reused', 'skipped', 'skipped', 'counted']);
    expect(reused.continuous).toBe(false);
    const filled = resumedAt(at(100, 0));
    expect(feedCreates(filled, [[41, 101]])).toEqual(['skipped']);
    expect(feed(filled, [[42, 101]])).toEqual(['skipped']);
    // The event of another kind has shown that no row of a download follows.
    expect(feedCreates(filled, [[43, 102]])).toEqual(['counted']);
    expect(filled.continuous).toBe(false);
  });

  test('are skipped after a position that was abandoned during a replay, unless the stream is certainly live', () => {
    const replay = resumedAt(bySeq);
    replay.reset(false);
    expect(feedCreates(replay, [[1, 300]])).toEqual(['skipped']);
    expect(replay.position).toBeNull();
    expect(feed(replay, [[2, 301]])).toEqual(['counted']);
    const live = resumedAt(bySeq);
    live.reset(true);
    expect(feedCreates(live, [[1, 300]])).toEqual(['counted']);
  });

  test('are counted at the present', () => {
    const progress = new Progress(null);
    progress.goLive(false);
    expect(
      feedCreates(progress, [
        [1, 100],
        [2, 101],
      ]),
    ).toEqual(['counted', 'counted']);
  });
});

describe('an implausible number', () => {
  const following = (): Progress => {
    const progress = new Progress(null);
    progress.goLive(false);
    progress.take(5_000, 1_000_000, false);
    return progress;
  };

  test('interrupts the observation, but neither becomes the position nor hides later events', () => {
    for (const lie of [Number.MAX_SAFE_INTEGER, 1_000_000_000_000_000, 5_000 + 50_000_000]) {
      const progress = following();
      expect(
        feed(progress, [
          [lie, 1_000_001],
          [5_001, 1_000_002],
        ]),
      ).toEqual(['implausible', 'counted']);
      expect(progress.continuous).toBe(false);
      expect(progress.position).toEqual({ kind: 'seq', value: 5_001, counted: 1, timeUs: 1_000_002 });
    }
  });

  test('becomes the position if the stream’s clock has advanced accordingly', () => {
    expect(feed(following(), [[5_000 + 50_000_000, 501_000_000]])).toEqual(['counted']);
  });

  test('does not become the first position if hosts would treat it as a time', () => {
    const progress = new Progress(null);
    progress.goLive(false);
    expect(feed(progress, [[1_000_000_000_000_000, 5]])).toEqual(['implausible']);
    expect(progress.position).toBeNull();
    expect(feed(progress, [[999_999_999_999_999, 6]])).toEqual(['counted']);
  });

  test('is not used for resuming if it was stored', () => {
    const stored = { kind: 'seq', value: Number.MAX_SAFE_INTEGER, counted: 1, timeUs: 1 } as const;
    expect([isUsable(stored), isUsable({ ...stored, value: 24_664_288_881 })]).toEqual([false, true]);
  });
});

describe('the boundary between a backfill and a live reader', () => {
  test('is determined by time if the end number of the backfill is false', () => {
    const backfill = new Progress(at(1_000_000, 0), { seq: Number.MAX_SAFE_INTEGER, timeUs: 2_000_000 });
    backfill.resume();
    expect(
      feed(backfill, [
        [7, 1_500_000],
        [8, 7_000_000],
        [9, 7_000_001],
      ]),
    ).toEqual(['counted', 'counted', 'beyond_end']);
  });

  test('assigns events with the time of the first live event to the backfill, which stops after these events', () => {
    const live = new Progress(null);
    live.goLive(true);
    expect(feed(live, [100, 100, 101])).toEqual(['skipped', 'skipped', 'counted']);
    const backfill = new Progress(at(90, 0), { seq: null, timeUs: 100 });
    backfill.resume();
    expect(feed(backfill, [89, 95, 100, 100, 100, 101])).toEqual([
      'skipped',
      'counted',
      'counted',
      'counted',
      'counted',
      'beyond_end',
    ]);
  });

  test('assigns events with the time of the first live event to the backfill, even after a restart at that time', () => {
    const live = resumedAt(at(100, allAtValue));
    expect(feed(live, [100, 100, 101])).toEqual(['skipped', 'skipped', 'counted']);
    expect(live.continuous).toBe(true);
  });

  test('is a break if the live reader starts at the present, and only events after the position are counted', () => {
    const live = new Progress(at(100));
    live.goLive(false);
    expect(feed(live, [99, 100, 120])).toEqual(['late_or_repeat', 'late_or_repeat', 'counted']);
    expect(live.continuous).toBe(false);
  });
});
