import { expect, it } from 'vitest';
import { manualClock, scaledClock } from './clock.ts';

it('a manual clock moves only when it is advanced, and never backwards', () => {
  const clock = manualClock(1000);
  const before = clock.now();
  clock.advance(250.5);
  expect([before, clock.now()]).toEqual([1000, 1250.5]);
  expect(() => clock.advance(-1)).toThrow('backwards');
});

it('a scaled clock runs at the given speed from its start time', () => {
  const wall = manualClock(50_000);
  const scaled = scaledClock(0, 60, wall.now);
  wall.advance(1000);
  expect(scaled()).toBe(60_000);
});
