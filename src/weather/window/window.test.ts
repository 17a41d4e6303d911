import { describe, expect, test } from 'vitest';

import type { FrameFacts } from '../classify/event-body.ts';

import { Track } from './track.ts';
import { minutes, type WindowRow, windowFlag, windowUs } from './window.ts';

const start = 1_780_000_020_000_000;
const whole = [{ from: start, to: start + windowUs }];
const row: WindowRow = {
  ...{ startUs: start, events: 100, lateOrRepeat: 0, malformed: 0, flags: 0, counts: [7] },
  ...{ resync: 0, leftOut: 0 },
};

function minute(change: Partial<WindowRow> = {}, observed = whole) {
  const [one] = minutes([{ ...row, ...change }], observed, start, 1, 1);
  return one;
}

describe('a minute of the weather history', () => {
  test('is complete if it was observed throughout and has no loss flag', () => {
    expect(minute()).toEqual({
      ...{ startUs: start, observedUs: windowUs, events: 100, flags: 0, counts: [7] },
      ...{ complete: true, eligible: true, resync: 0, leftOut: 0 },
    });
  });

  test.each([
    ['malformed', false],
    ['lateOrRepeat', false],
    ['possibleLoss', false],
    ['seam', true],
    ['replayed', true],
    ['leftOut', true],
  ] as const)('with the flag %s has the field complete set to %s', (flag, complete) => {
    expect(minute({ flags: windowFlag[flag] })?.complete).toBe(complete);
  });

  test('is not complete if a microsecond of it was not observed', () => {
    expect(minute({}, [{ from: start, to: start + windowUs - 1 }])).toMatchObject({ complete: false, eligible: true });
  });

  test('can be compared with other minutes if at least 59 s of it were observed', () => {
    expect(minute({}, [{ from: start, to: start + 59_000_000 }])?.eligible).toBe(true);
    expect(minute({}, [{ from: start, to: start + 58_999_999 }])?.eligible).toBe(false);
  });

  test('can be compared with other minutes if at most one percent of its events were not counted', () => {
    expect(minute({ lateOrRepeat: 1 })?.eligible).toBe(true);
    expect(minute({ lateOrRepeat: 1, malformed: 1 })?.eligible).toBe(false);
    expect(minute({ flags: windowFlag.compacted })?.eligible).toBe(false);
  });

  test('counts as empty and complete if it was observed but has no row', () => {
    expect(minutes([], whole, start, 2, 1)).toMatchObject([
      { events: 0, counts: [0], observedUs: windowUs, complete: true },
      { events: 0, counts: [0], observedUs: 0, complete: false },
    ]);
  });
});

test('a minute is not complete if a frame could not be read, even if it was observed throughout', () => {
  const facts = (timeUs: number, outcome: FrameFacts['outcome'] = 'counted'): FrameFacts => ({
    ...{ outcome, notice: 'none', timeUs, seq: null, creates: false, metrics: Uint8Array.of(0), metricCount: 1 },
  });
  for (const broken of ['parse_error', 'no_time_us'] as const) {
    const track = new Track({ position: null, end: null, rate: 1, clockUs: () => start + 2 * windowUs });
    track.goLive(false);
    for (let second = -1; second <= 61; second++) {
      track.frame(facts(start + second * 1_000_000));
      if (second === 30) track.frame(facts(0, broken));
    }
    const { windows, observed } = track.take();
    const rows = windows.map(({ start: startUs, counts, ...of }) => ({ ...of, startUs, counts: [...counts] }));
    const [found] = minutes(rows, observed, start, 1, 1);
    expect(found).toMatchObject({ observedUs: windowUs, complete: false, flags: windowFlag.malformed });
  }
});
