import { describe, expect, test } from 'vitest';
import { hour, micros, second } from '../../store/time.ts';
import { downtime } from './downtime.ts';

const now = micros(1_780_000_000_000_000);
const ago = (hours: number) => micros(now - hours * hour);
const signs = { startedAt: ago(9), heartbeat: null, observedThrough: null, notedThrough: null };
const since = (hours: number, restored = false) => ({ start: ago(hours), end: now, restored });

describe('the downtime before a start', () => {
  test('the downtime begins at the latest of three times: the start of the epoch, the last heartbeat, and the last page', () => {
    expect(downtime(signs, now)).toEqual(since(9));
    expect(downtime({ ...signs, heartbeat: ago(2) }, now)).toEqual(since(2));
    expect(downtime({ ...signs, heartbeat: ago(2), observedThrough: ago(5), notedThrough: ago(5) }, now)).toEqual(
      since(2),
    );
    const after = micros(ago(2) + 9 * second);
    expect(downtime({ ...signs, heartbeat: ago(2), observedThrough: after }, now)).toEqual({
      ...since(2),
      start: after,
    });
  });

  test('there is no downtime in a new epoch, or if the heartbeat is in the future', () => {
    expect(downtime({ ...signs, heartbeat: micros(now + hour) }, now)).toBe(null);
    expect(downtime({ ...signs, startedAt: micros(now - 1_000) }, now)).toBe(null);
  });
});

describe('a store with restored parts', () => {
  test('a restored store has a gap since the earlier of its last heartbeat and its last row if its record lists missing rows', () => {
    const whole = { ...signs, heartbeat: ago(2), observedThrough: ago(3), notedThrough: ago(3) };
    expect(downtime({ ...whole, hasLost: true }, now)).toEqual(since(3, true));
    expect(downtime(whole, now)).toEqual(since(2));
  });

  test('a restored store has a gap since its last row if recorded rows are missing', () => {
    expect(downtime({ ...signs, heartbeat: ago(1), observedThrough: ago(4), notedThrough: ago(1) }, now)).toEqual(
      since(4, true),
    );
    expect(downtime({ ...signs, heartbeat: ago(1), notedThrough: ago(1) }, now)).toEqual(since(9, true));
  });

  test('a restored store has a gap since its last heartbeat if rows are newer, because recorded gaps may be missing', () => {
    expect(downtime({ ...signs, heartbeat: ago(4), observedThrough: ago(1), notedThrough: ago(4) }, now)).toEqual(
      since(4, true),
    );
  });
});
