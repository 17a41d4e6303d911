import { expect, test } from 'vitest';
import { LiveStamps } from './service-events.ts';

const second = 1_000_000;

/** Returns whether each event is live. An event consists of its arrival time and its stamp, both in seconds. */
function judged(resumes: boolean, events: readonly (readonly [number, number])[]): boolean[] {
  let now = 0;
  const stamps = new LiveStamps(() => now);
  stamps.open(resumes);
  return events.map(([at, stamp]) => {
    now = at * second;
    return stamps.isLive(stamp * second);
  });
}

test('all events of a connection that begins at the present are live', () => {
  expect(judged(false, [[0, 100]])).toEqual([true]);
});

test('the events of a replay are live only once the stamps advance at the pace of the clock', () => {
  const replay = [0, 4, 8, 12].map((at) => [at, 100 + at * 900] as const);
  const live = [13, 18, 21, 23, 24].map((at) => [at, 20_000 + at] as const);
  expect(judged(true, [...replay, ...live])).toEqual([...replay.map(() => false), false, false, false, false, false]);
  const later = [35, 36].map((at) => [at, 20_000 + at] as const);
  expect(judged(true, [...replay, ...live, ...later]).slice(-2)).toEqual([true, true]);
});

test('the events of a replay are not live even if the replay pauses', () => {
  expect(
    judged(true, [
      [0, 100],
      [30, 101],
      [31, 900],
      [45, 901],
    ]),
  ).toEqual([false, false, false, false]);
});

test('the events of a resumed connection are not live at first, even if the events of the previous connection were live', () => {
  let now = 0;
  const stamps = new LiveStamps(() => now);
  stamps.open(false);
  expect(stamps.isLive(5)).toBe(true);
  stamps.open(true);
  now = 20 * second;
  expect(stamps.isLive(6)).toBe(false);
});
