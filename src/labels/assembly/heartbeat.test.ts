import { describe, expect, test } from 'vitest';
import { hour, micros, second } from '../../store/time.ts';
import { downtime } from '../assembly/heartbeat.ts';

const now = micros(1_780_000_000_000_000);
const ago = (hours: number) => micros(now - hours * hour);
const signs = { startedAt: ago(9), heartbeat: null, observedThrough: null, notedThrough: null };
const since = (hours: number, restored = false) => ({ start: ago(hours), end: now, restored });

describe('the downtime before a start', () => {
  test('begins at the latest of three times: the start of the epoch, the last heartbeat, and the last page', () => {
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

  test('is empty in a new epoch, or if the heartbeat is in the future', () => {
    expect(downtime({ ...signs, heartbeat: micros(now + hour) }, now)).toBe(null);
    expect(downtime({ ...signs, startedAt: micros(now - 1_000) }, now)).toBe(null);
  });
});

describe('a store with restored parts', () => {
  test('has a gap since its last heartbeat or its last page, whichever is earlier, if it lacks data that its record states', () => {
    const whole = { ...signs, heartbeat: ago(2), observedThrough: ago(3), notedThrough: ago(3) };
    expect(downtime({ ...whole, hasLost: true }, now)).toEqual(since(3, true));
    expect(downtime(whole, now)).toEqual(since(2));
  });

  test('has a gap since its last page if its state file states a later page, or since the start of its epoch if it has no page', () => {
    expect(downtime({ ...signs, heartbeat: ago(1), observedThrough: ago(4), notedThrough: ago(1) }, now)).toEqual(
      since(4, true),
    );
    expect(downtime({ ...signs, heartbeat: ago(1), notedThrough: ago(1) }, now)).toEqual(since(9, true));
  });

  test('has a gap since its last heartbeat if its rows are over a minute newer than the heartbeat, because recorded gaps might be missing', () => {
    expect(downtime({ ...signs, heartbeat: ago(4), observedThrough: ago(1), notedThrough: ago(4) }, now)).toEqual(
      since(4, true),
    );
  });
});
