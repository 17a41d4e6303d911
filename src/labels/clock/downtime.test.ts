import { describe, expect, test } from 'vitest';
import { hour, micros, second } from '../../store/time.ts';
import { downtime } from './downtime.ts';

const now = micros(1_780_000_000_000_000);
const ago = (hours: number) => micros(now - hours * hour);
const signs = { startedAt: ago(9), heartbeat: null, observedThrough: null, notedThrough: null };
const since = (hours: number, restored = false) => ({ start: ago(hours), end: now, restored });

describe('no process observed since the last heartbeat: the time since then is a gap', () => {
  test('whichever it was', () => {
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

  test('and there is none in an epoch that begins, or when it lies ahead', () => {
    expect(downtime({ ...signs, heartbeat: micros(now + hour) }, now)).toBe(null);
    expect(downtime({ ...signs, startedAt: micros(now - 1_000) }, now)).toBe(null);
  });
});

describe('a store of which parts were put back', () => {
  test('rows that were noted and are gone: nobody knows since the last that is there', () => {
    expect(downtime({ ...signs, heartbeat: ago(1), observedThrough: ago(4), notedThrough: ago(1) }, now)).toEqual(
      since(4, true),
    );
    expect(downtime({ ...signs, heartbeat: ago(1), notedThrough: ago(1) }, now)).toEqual(since(9, true));
  });

  test('rows that no heartbeat reaches: gaps noted since may be gone', () => {
    expect(downtime({ ...signs, heartbeat: ago(4), observedThrough: ago(1), notedThrough: ago(4) }, now)).toEqual(
      since(4, true),
    );
  });
});
