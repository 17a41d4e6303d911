import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createClassifier } from '../classify/classify.ts';
import { createEventsClassifier, ResyncMemory } from '../classify/classify-events.ts';

import type { FrameFacts } from '../classify/event-body.ts';
import { Track, type TrackGain } from './track.ts';
import { coverage, type Interval, union, windowFlag, windowStart } from './window.ts';

const second = 1_000_000;
/** Start of the minute that the tests' clocks are based on. */
const base = 1_780_000_020 * second;

function facts(timeUs: number, seq: number | null = null): FrameFacts {
  return { outcome: 'counted', notice: 'none', timeUs, seq, creates: false, metrics: Uint8Array.of(3), metricCount: 1 };
}

function live(clockUs: () => number = () => base): Track {
  const track = new Track({ position: null, end: null, rate: 100, clockUs });
  track.goLive(false);
  return track;
}

function feed(track: Track, times: readonly number[]): void {
  for (const time of times) track.frame(facts(time));
}

describe('the observed time of a track', () => {
  test('extends from the first event to the last if no silence is longer than usual', () => {
    const track = live();
    feed(track, [base, base + 4 * second, base + 8 * second]);
    expect(track.take().observed).toEqual([{ from: base, to: base + 8 * second + 1 }]);
  });

  test('excludes a silence that is longer than usual, and counts it as a gap', () => {
    const track = live();
    feed(track, [base, base + second, base + 8 * second]);
    const { observed, gapUs } = track.take();
    expect(observed).toEqual([
      { from: base, to: base + second + 1 },
      { from: base + 8 * second, to: base + 8 * second + 1 },
    ]);
    expect(gapUs).toBe(7 * second - 1);
  });

  test('is continuous across commits', () => {
    const track = live();
    feed(track, [base, base + second]);
    const first = track.take();
    feed(track, [base + 2 * second]);
    expect([first.observed, track.take().observed]).toEqual([
      [{ from: base, to: base + second + 1 }],
      [{ from: base + second + 1, to: base + 2 * second + 1 }],
    ]);
  });

  test('includes the time between two connections if the host sent the event at the position again', () => {
    const track = live();
    feed(track, [base, base + second]);
    track.resume();
    feed(track, [base + second, base + 3 * second]);
    expect(track.take().observed).toEqual([{ from: base, to: base + 3 * second + 1 }]);
  });

  test('excludes the time between two connections if the host did not send the event at the position again', () => {
    const track = live();
    feed(track, [base, base + second]);
    track.resume();
    feed(track, [base + 3 * second]);
    expect(track.take().observed).toEqual([
      { from: base, to: base + second + 1 },
      { from: base + 3 * second, to: base + 3 * second + 1 },
    ]);
  });
});

describe('the windows of a track', () => {
  test('contain the events of their minute and the counts of their metrics', () => {
    const track = live();
    feed(track, [base, base + second, base + 60 * second]);
    expect(
      track.take().windows.map(({ start, events, counts }) => ({ start, events, likes: counts[3], posts: counts[0] })),
    ).toEqual([
      { start: base, events: 2, likes: 2, posts: 0 },
      { start: base + 60 * second, events: 1, likes: 1, posts: 0 },
    ]);
  });

  test('are flagged by a repeated event, which adds nothing to their counts', () => {
    const track = live();
    feed(track, [base, base + second, base]);
    const [window] = track.take().windows;
    expect(window).toMatchObject({ events: 2, lateOrRepeat: 1, flags: windowFlag.seam | windowFlag.lateOrRepeat });
  });

  test('are marked as replayed if their events came late, and also as compacted if they came more than four hours late', () => {
    let now = base + 300 * second;
    const track = live(() => now);
    feed(track, [base]);
    now = base + 5 * 3600 * second;
    feed(track, [base + 60 * second]);
    expect(track.take().windows.map(({ flags }) => flags & (windowFlag.replayed | windowFlag.compacted))).toEqual([
      windowFlag.replayed,
      windowFlag.replayed | windowFlag.compacted,
    ]);
  });

  test('are marked for possible loss where a replay reaches the present', () => {
    const now = base + 130 * second;
    const track = live(() => now);
    feed(track, [base]);
    track.resume();
    feed(track, [base, base + second, now - second, now]);
    expect(track.take().windows.map(({ start, flags }) => [start, flags & windowFlag.possibleLoss])).toEqual([
      [base, 0],
      [windowStart(now), windowFlag.possibleLoss],
    ]);
  });

  test('count an unreadable frame separately from the events, and only once across a resume', () => {
    const track = live();
    feed(track, [base]);
    const broken: FrameFacts = { ...facts(0), outcome: 'parse_error', metricCount: 0 };
    expect(track.frame(broken)).toBe('parse_error');
    track.resume();
    track.frame(broken);
    feed(track, [base, base + 1]);
    expect(track.take().windows).toMatchObject([{ events: 2, malformed: 1 }]);
  });

  test('have no observed time around an event that is too far ahead of this machine’s clock, no matter how short the interruption is', () => {
    let clock = base - 59.5 * second;
    const track = live(() => clock);
    expect(track.frame(facts(base))).toBe('counted');
    expect(track.frame(facts(base + second))).toBe('future');
    clock = base + 2 * second;
    feed(track, [base + 2 * second, base + 3 * second]);
    expect(track.take().observed).toEqual([
      { from: base, to: base + 1 },
      { from: base + 2 * second, to: base + 3 * second + 1 },
    ]);
  });

  test('ignore an event that is older than any event of a live host, without moving the position', () => {
    const track = new Track({ position: null, end: null, rate: 100, oldestUs: 3600 * second, clockUs: () => base });
    track.goLive(false);
    feed(track, [1, 60 * second, base - 3601 * second, base, base + second]);
    expect(track.take()).toMatchObject({
      position: { value: base + second },
      windows: [{ start: base, events: 2 }],
      outcomes: { past: 3, counted: 2 },
      gapUs: 0,
    });
  });

  test('count an event with an old time but a continuous number in the current minute', () => {
    const track = new Track({ position: null, end: null, rate: 100, oldestUs: 3600 * second, clockUs: () => base });
    track.goLive(false);
    for (const [seq, time] of [
      [7, base],
      [8, base - 40_000_000 * second],
      [9, base + second],
    ] as const)
      track.frame(facts(time, seq));
    expect(track.take()).toMatchObject({
      windows: [{ start: base, events: 3 }],
      observed: [{ from: base, to: base + second + 1 }],
    });
  });

  test('are flagged if numbers before the next event were omitted', () => {
    const track = live();
    for (const [i, seq] of [7, 8, 30].entries()) track.frame(facts(base + i, seq));
    expect(track.take().windows.map(({ events, flags }) => [events, flags & windowFlag.leftOut])).toEqual([
      [3, windowFlag.leftOut],
    ]);
  });

  test.each([
    ['as many unreadable frames as missing numbers', 21, 0, [{ from: base, to: base + 1001 }]],
    [
      'fewer unreadable frames than missing numbers',
      20,
      1,
      [
        { from: base, to: base + 2 },
        { from: base + 1000, to: base + 1001 },
      ],
    ],
  ])('count missing numbers beyond the unreadable frames as omitted: %s', (_, unreadable, leftOut, observed) => {
    const track = new Track({ position: null, end: null, rate: 100, dense: true, clockUs: () => base });
    track.goLive(false);
    track.frame(facts(base, 7));
    track.frame(facts(base + 1, 8));
    for (let i = 0; i < unreadable; i += 1) track.frame({ ...facts(0, null), outcome: 'parse_error' });
    track.frame(facts(base + 1000, 30));
    expect(track.take()).toMatchObject({ windows: [{ events: 3, malformed: unreadable, leftOut }], observed });
  });

  test('have an unchanged rate if a host omits one number in 400, far more often than 16 times', () => {
    const track = new Track({ position: null, end: null, rate: 250, dense: true, clockUs: () => base });
    track.goLive(false);
    for (let i = 0; i <= 15_000; i += 1) track.frame(facts(base + i * 4_000, 7 + i + Math.floor(i / 400)));
    const { windows, observed } = track.take();
    expect([windows[0]?.events, windows[0]?.leftOut]).toEqual([15_000, 37]);
    // A break ends the observed time one microsecond after the event before it.
    expect([...coverage(observed, base, 60 * second, 1)]).toEqual([60 * second - 37 * 3_999]);
  });

  test('are not part of a replay once the host sends events from after the connection began, even if this clock is 3 s ahead', () => {
    let hostUs = base;
    const track = new Track({ position: null, end: null, rate: 100, dense: true, clockUs: () => hostUs + 3 * second });
    track.goLive(false);
    track.frame(facts(base, 7));
    track.resume();
    for (let i = 0; i <= 6; i += 1) {
      hostUs = base + i * second;
      track.frame(facts(hostUs, 7 + i));
    }
    hostUs = base + 7 * second;
    track.frame(facts(hostUs, 25));
    const { windows, observed } = track.take();
    const marks = windowFlag.compacted | windowFlag.possibleLoss;
    expect(windows.map(({ leftOut, flags }) => [leftOut, flags & marks])).toEqual([[11, windowFlag.possibleLoss]]);
    expect(observed).toEqual([
      { from: base, to: base + 6 * second + 1 },
      { from: base + 7 * second, to: base + 7 * second + 1 },
    ]);
  });

  test.each([true, false])('mark a window as compacted if a replay lacks a number (hidden numbers: %s)', (dense) => {
    const track = new Track({ position: null, end: null, rate: 100, dense, clockUs: () => base + 60 * second });
    track.goLive(false);
    track.frame(facts(base, 7));
    track.take();
    track.resume();
    for (const [i, seq] of [7, 8, 11].entries()) track.frame(facts(base + i, seq));
    expect(track.take().windows.map(({ events, flags }) => [events, flags & windowFlag.compacted])).toEqual([
      [2, windowFlag.compacted],
    ]);
  });

  test('mark the windows on both sides of the missing numbers, directly after the position too', () => {
    const next = base + 60 * second;
    const track = new Track({ position: null, end: null, rate: 1, clockUs: () => next + second });
    track.goLive(false);
    track.frame(facts(next - second, 7));
    track.take();
    track.resume();
    track.frame(facts(next - second, 7));
    track.frame(facts(next, 9));
    const marked = track.take().windows.filter(({ flags }) => (flags & windowFlag.compacted) !== 0);
    expect(marked.map(({ start }) => start).sort()).toEqual([base, next]);
  });

  test.each([
    ['legacy', createClassifier, false],
    ['current', () => createEventsClassifier(new ResyncMemory(0)), true],
  ])('are marked as compacted in a recorded replay over the %s protocol', (protocol, classifier, dense) => {
    const path = new URL(`../../../test/fixtures/jetstream/compacted_${protocol}.jsonl`, import.meta.url);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const classify = classifier();
    const [start = facts(0), ...recorded] = lines.map((line) => ({ ...classify(Buffer.from(line)) }));
    const { seq, timeUs } = start;
    const track = new Track({
      ...{ position: { kind: 'seq', value: seq ?? 0, counted: 1, timeUs }, end: null, rate: 10, dense },
      clockUs: () => timeUs + 60 * second,
    });
    track.resume();
    for (const frame of [start, ...recorded]) track.frame(frame);
    const { windows, outcomes } = track.take();
    expect(outcomes).toMatchObject({ counted: recorded.length, skipped: 1 });
    expect(windows.map(({ flags }) => flags & windowFlag.compacted)).toEqual([windowFlag.compacted]);
  });

  test('are not flagged by consecutive numbers', () => {
    const track = live();
    for (const [i, seq] of [7, 8, 9].entries()) track.frame(facts(base + i, seq));
    expect(track.take().windows.map(({ events, flags }) => [events, flags & windowFlag.leftOut])).toEqual([[3, 0]]);
  });

  test('ignore an event from the far future, without moving the position', () => {
    const track = live();
    feed(track, [base]);
    expect(track.frame(facts(base + 3600 * second))).toBe('future');
    feed(track, [base + second]);
    expect(track.take()).toMatchObject({
      position: { value: base + second },
      windows: [{ events: 2, malformed: 1 }],
      outcomes: { counted: 2, future: 1 },
    });
  });
});

describe('a wrong position', () => {
  test('is abandoned after 15 s of live events, leaving a gap and a seam', () => {
    let now = base;
    const track = live(() => now);
    track.frame(facts(base, 900_000_000_000_000));
    const outcomes = Array.from({ length: 40 }, (_, i) => {
      now = base + (i + 1) * second;
      return track.frame(facts(now, 1_000 + i));
    });
    expect(outcomes.indexOf('counted')).toBe(16);
    expect(outcomes.slice(16).every((outcome) => outcome === 'counted')).toBe(true);
    const gain = track.take();
    expect(gain).toMatchObject({ resets: 1, position: { kind: 'seq', value: 1_039 } });
    expect(gain.gapUs).toBe(15 * second);
    expect(gain.observed.at(-1)).toEqual({ from: base + 17 * second, to: base + 40 * second + 1 });
  });

  test('is kept by a backfill, because the backfill has a fixed end', () => {
    let now = base + 600 * second;
    const track = new Track({
      position: { kind: 'seq', value: 900_000_000_000_000, counted: 1, timeUs: base },
      end: { seq: 900_000_000_000_100, timeUs: base + 60 * second },
      rate: 100,
      clockUs: () => now,
    });
    track.resume();
    for (let i = 0; i < 40; i += 1) {
      now += second;
      track.frame(facts(base + i * second, 1_000 + i));
    }
    expect(track.take().resets).toBe(0);
  });
});

describe('one commit of data from a hostile host', () => {
  test('has a limited number of spans no matter how often the observation is interrupted, and the observed time of all of them', () => {
    let now = base;
    const track = live(() => now);
    for (let i = 0; i < 20_000; i += 1) {
      track.frame(facts(base + i * 10));
      track.frame(facts(base + 7200 * second));
    }
    now = base + 62 * second;
    feed(track, [base + 61 * second, now]);
    const { observed } = track.take();
    expect(observed).toHaveLength(17);
    expect(observed.slice(-2)).toEqual([
      { from: base + 150, to: base + 150 + 19_985 },
      { from: base + 61 * second, to: base + 62 * second + 1 },
    ]);
  });

  test('is interrupted by a host that lost its last events and uses their numbers again, until a new number', () => {
    const track = live();
    for (const seq of [1, 2, 3, 4]) track.frame(facts(base + seq * second, seq));
    track.resume();
    const again = [3, 260, 261, 262].map((seq, at) => track.frame(facts(base + (at + 6) * second, seq)));
    expect(again).toEqual(['skipped', 'skipped', 'counted', 'counted']);
    const { observed, resets, gapUs } = track.take();
    expect(observed).toEqual([
      { from: base + second, to: base + 4 * second + 1 },
      { from: base + 8 * second, to: base + 9 * second + 1 },
    ]);
    expect([resets, gapUs]).toEqual([1, 4 * second - 1]);
  });

  test('is reported as full once it contains 1,024 windows', () => {
    const end = { seq: null, timeUs: base };
    const position = { kind: 'time', value: base - 90 * 3600 * second, counted: 0, timeUs: 0 } as const;
    const track = new Track({ position, end, rate: 1, clockUs: () => base });
    track.resume();
    let windows = 0;
    for (; !track.full; windows += 1) track.frame(facts(base - 80 * 3600 * second + windows * 60 * second));
    expect(windows).toBe(1024);
    track.take();
    expect(track.full).toBe(false);
  });
});

/**
 * Generates a stream of events, some in batches that share one time, with interruptions of connections and of the
 * process.
 */
const scenario = fc.record({
  steps: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 4 })), {
    minLength: 1,
    maxLength: 40,
  }),
  breaks: fc.array(
    fc.record({
      after: fc.nat(12),
      rewind: fc.nat(20),
      event: fc.constantFrom('drop' as const, 'kill' as const, 'commit' as const),
    }),
    { maxLength: 12 },
  ),
  seqs: fc.boolean(),
});

describe('a stream with interruptions at any point', () => {
  test('has every event counted once, and all time between its first and last event counts as observed', () => {
    fc.assert(
      fc.property(scenario, ({ steps, breaks, seqs }) => {
        let time = base;
        const events = steps.flatMap(([advance, batch]) => {
          time += advance * 1000;
          return Array.from({ length: batch }, () => time);
        });
        const frame = (i: number): FrameFacts => facts(events[i] ?? 0, seqs ? i + 1 : null);
        const stored: { counts: Map<number, number>; observed: Interval[]; position: TrackGain['position'] } = {
          counts: new Map(),
          observed: [],
          position: null,
        };
        const clockUs = (): number => base;
        let track = live();
        const commit = (): void => {
          const gain = track.take();
          for (const { start, events: more } of gain.windows)
            stored.counts.set(start, (stored.counts.get(start) ?? 0) + more);
          stored.observed = union([...stored.observed, ...gain.observed]);
          stored.position = gain.position;
        };
        let next = 0;
        /** Reconnects to the host. The host replays from the cursor inclusively, or from a few events before it. */
        const connect = (rewind: number): void => {
          const { position } = track;
          if (!position) {
            track.goLive(false);
            next = 0;
            return;
          }
          const from = events.findIndex((at, i) => (seqs ? i + 1 : at) >= position.value);
          next = Math.max(0, from - rewind);
          track.resume();
        };
        for (const { after, rewind, event } of breaks) {
          for (let i = 0; i < after && next < events.length; i += 1, next += 1) track.frame(frame(next));
          if (event === 'commit') commit();
          else {
            if (event === 'kill') track = new Track({ position: stored.position, end: null, rate: 100, clockUs });
            connect(rewind);
          }
        }
        for (; next < events.length; next += 1) track.frame(frame(next));
        commit();
        expect([...stored.counts.values()].reduce((sum, n) => sum + n, 0)).toBe(events.length);
        expect(stored.observed).toEqual([{ from: events[0], to: (events.at(-1) ?? 0) + 1 }]);
      }),
      { numRuns: 500 },
    );
  });
});
