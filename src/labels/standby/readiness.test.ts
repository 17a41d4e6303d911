import { expect, test } from 'vitest';
import { micros, second } from '../../store/time.ts';
import { untracked } from '../state/reading-state.ts';
import { isRead } from './readiness.ts';

const since = micros(1_000 * second);

function reading(lastAnswered: number | null, { whole = false, outageSince = null as number | null } = {}) {
  const tracked = { ...untracked(since), lastAnswered: lastAnswered === null ? null : micros(lastAnswered) };
  return { whole, outageSince: outageSince === null ? null : micros(outageSince), tracked };
}

test('a source counts as read once all its earlier labels have been read', () => {
  expect(isRead(reading(null, { whole: true }), since)).toBe(true);
  expect(isRead(reading(null), since)).toBe(false);
});

test('a source whose pages never end counts as read after a few seconds of responses, unless an outage is being filled in', () => {
  const later = since + 6 * second;
  expect(isRead(reading(since + second), since)).toBe(false);
  expect(isRead(reading(later), since)).toBe(true);
  expect(isRead(reading(later, { outageSince: since }), since)).toBe(false);
});
