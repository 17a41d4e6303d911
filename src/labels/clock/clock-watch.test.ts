import { describe, expect, test } from 'vitest';
import { hour, micros, minute, second } from '../../store/time.ts';
import { watchClock } from './clock-watch.ts';

const begun = 1_780_000_000 * second;

/** Two clocks that a test moves, and the watch over them. */
function clocks() {
  let wall = begun;
  let monotonic = 0;
  const watch = watchClock({ wall: () => micros(wall), monotonic: () => monotonic });
  return {
    watch,
    pass(real: number, shown = real) {
      monotonic += real;
      wall += shown;
    },
    wall: () => micros(wall),
  };
}

describe('the watch over the wall clock', () => {
  test('sees nothing while both clocks agree, nor in a slow drift', () => {
    const { watch, pass } = clocks();
    for (let i = 0; i < 2_000; i++) {
      pass(10 * second, 10 * second + 5_000);
      expect(watch.look()).toBe(null);
    }
    expect(watch.doubtful).toBe(false);
  });

  test('tells a step forward as the span that was left out', () => {
    const { watch, pass } = clocks();
    pass(minute, minute + hour);
    expect(watch.look()).toEqual({ start: begun + minute, end: begun + minute + hour });
    expect(watch.look()).toBe(null);
    expect(watch.doubtful).toBe(true);
  });

  test('tells whole microseconds, whatever the monotonic clock counts in', () => {
    const { watch, pass } = clocks();
    pass(0.25, hour);
    expect(watch.look()).toEqual({ start: begun, end: begun + hour });
  });

  test('tells a step back as the span that is lived through twice', () => {
    const { watch, pass } = clocks();
    pass(minute, minute - hour);
    expect(watch.look()).toEqual({ start: begun + minute - hour, end: begun + minute });
    expect(watch.doubtful).toBe(true);
  });

  test('tells a suspend, in which only the wall clock went on', () => {
    const { watch, pass } = clocks();
    pass(0, 8 * hour);
    expect(watch.look()).toEqual({ start: begun, end: begun + 8 * hour });
  });

  test('lets a minute pass, not more', () => {
    const { watch, pass } = clocks();
    pass(second, second + minute);
    expect(watch.look()).toBe(null);
    pass(second, second + 1);
    expect(watch.look()).not.toBe(null);
  });

  test('doubts until an upstream agrees', () => {
    const { watch, pass, wall } = clocks();
    pass(0, hour);
    watch.look();
    watch.onUpstreamTime(micros(wall() - hour));
    expect(watch.doubtful).toBe(true);
    watch.onUpstreamTime(micros(wall() - minute));
    expect(watch.doubtful).toBe(false);
  });

  test('is confirmed by nobody at first, and not again after a step', () => {
    const { watch, pass, wall } = clocks();
    expect([watch.confirmed, watch.doubtful]).toEqual([false, false]);
    watch.onUpstreamTime(micros(wall() - minute));
    expect(watch.confirmed).toBe(true);
    pass(0, hour);
    watch.look();
    expect(watch.confirmed).toBe(false);
    watch.onTrustedTime(wall(), wall());
    expect([watch.confirmed, watch.doubtful]).toEqual([true, false]);
  });

  test('is put in doubt before anybody confirmed it, by those alone that we chose ourselves', () => {
    const { watch, wall } = clocks();
    watch.onUpstreamTime(micros(wall() - hour));
    expect(watch.doubtful).toBe(false);
    watch.onTrustedTime(micros(wall() - hour), wall());
    expect(watch.doubtful).toBe(true);
    watch.onUpstreamTime(wall());
    watch.onTrustedTime(micros(wall() - hour), wall());
    expect([watch.confirmed, watch.doubtful]).toEqual([true, false]);
  });

  test('takes for the time of an answer any instant since it was asked for', () => {
    const { watch, pass, wall } = clocks();
    const askedAt = wall();
    pass(10 * minute);
    watch.onTrustedTime(micros(askedAt - minute - 1), askedAt);
    expect(watch.confirmed).toBe(false);
    watch.onTrustedTime(askedAt, askedAt);
    expect(watch.confirmed).toBe(true);
  });
});
