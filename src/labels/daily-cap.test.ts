import { expect, test } from 'vitest';
import { hour, micros } from '../store/time.ts';
import { DailyCap } from './daily-cap.ts';

const noon = micros(Date.UTC(2026, 5, 1, 12) * 1000);

function capAt(limit: number) {
  const time = { now: noon };
  return { time, cap: new DailyCap(limit, () => time.now) };
}

test('a source gives up to the cap, and no page beyond it; the others go on', () => {
  const { cap } = capAt(100);
  cap.count('a', 90);
  expect([cap.admits('a', 10), cap.paused('a')]).toEqual([true, false]);
  expect([cap.admits('a', 11), cap.paused('a'), cap.pausedSources]).toEqual([false, true, ['a']]);
  // Paused is paused: a smaller page would leave out what came before it.
  expect([cap.admits('a', 1), cap.admits('a', 0), cap.admits('b', 50)]).toEqual([false, false, true]);
});

test('a page that is larger than the cap is taken once a day, so that it stops nobody for good', () => {
  const { cap } = capAt(100);
  expect(cap.admits('a', 500)).toBe(true);
  cap.count('a', 500);
  expect(cap.admits('a', 1)).toBe(false);
});

test('a pause lasts until midnight by our clock, and a clock that is set back gives nothing anew', () => {
  const { cap, time } = capAt(10);
  cap.count('a', 10);
  cap.admits('a', 1);
  expect(cap.msLeft).toBe(12 * 3_600_000);
  time.now = micros(noon - 24 * hour);
  expect(cap.paused('a')).toBe(true);
  time.now = micros(noon + 12 * hour);
  expect([cap.paused('a'), cap.admits('a', 10), cap.pausedSources]).toEqual([false, true, []]);
});

test('what the day held before a restart counts', () => {
  const { cap } = capAt(10);
  cap.load([{ labeler: 'a', applied: 6, removed: 4 }]);
  expect([cap.admits('a', 1), cap.admits('b', 1)]).toEqual([false, true]);
});

test('a source gives up to the bytes of the cap, whatever its rows; after a restart its rows count at the mean', () => {
  const time = { now: noon };
  const cap = new DailyCap(100, () => time.now, 1_000);
  const label = { src: 'a', uri: `did:web:${'b'.repeat(400)}`, val: 'v', cts: '' };
  cap.countBytes([{ label, signature: 'unsigned' }], 1);
  cap.count('a', 1);
  expect(cap.admits('a', 1)).toBe(true);
  cap.countBytes(
    Array.from({ length: 4 }, () => ({ label, signature: 'unsigned' as const })),
    2,
  );
  // A read that finds nothing new is no reason for a pause.
  expect([cap.admits('a', 0), cap.admits('a', 1), cap.paused('a'), cap.admits('b', 1)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  time.now = micros(noon + 12 * hour);
  expect(cap.admits('a', 1)).toBe(true);
  cap.load([{ labeler: 'c', applied: 4, removed: 1 }]);
  expect(cap.admits('c', 1)).toBe(false);
});
