import { expect, test } from 'vitest';
import { Replay } from './replay.ts';

const second = 1_000_000;
const startUs = 1_780_000_020 * second;

/**
 * Returns the delays of the events at which a replay may have reached the present, and at which it ends. Each pair
 * states the time since the start of the connection, and the delay of the event by this machine's clock, in seconds.
 */
function follow(events: readonly (readonly [seconds: number, delay: number])[]) {
  let nowUs = startUs;
  const replay = new Replay(() => nowUs);
  replay.start();
  const reached: number[] = [];
  let ended: number | null = null;
  for (const [seconds, delay] of events) {
    nowUs = startUs + seconds * second;
    if (replay.reachesPresent(nowUs - delay * second)) reached.push(delay);
    if (!replay.isRunning) ended ??= delay;
  }
  return { reached, ended };
}

test('a replay ends at the first event that is at most two seconds late', () => {
  const delays = [3600, 5, 2.1, 2, 0.3, 3, 0.3];
  expect(follow(delays.map((delay, at) => [at / 10, delay]))).toEqual({ reached: [2], ended: 2 });
});

test('a replay that takes longer than its delay ends early, and may lose events both there and where it reaches the present', () => {
  const delays = [3600, 400, 61, 60, 30, 2, 0.3];
  expect(follow(delays.map((delay, at) => [at * 100, delay]))).toEqual({ reached: [60, 2], ended: 60 });
});

test('a replay ends at the first event after its start if this clock is up to a minute ahead', () => {
  const live = (delay: number) => Array.from({ length: 200 }, (_, at) => [at, delay] as const);
  expect([2.5, 60, 61].map((delay) => follow(live(delay)))).toEqual([
    { reached: [2.5], ended: 2.5 },
    { reached: [60], ended: 60 },
    { reached: [], ended: null },
  ]);
});
