import { describe, expect, test } from 'vitest';
import { micros } from '../../store/time.ts';
import { noPosition } from '../label/position.ts';
import { afterQuiet, isSettled } from './quiet.ts';
import { initialProgress, type ReadProgress, type StreamProgress } from './read-progress.ts';
import { readingOf, untracked } from './reading-state.ts';

const now = micros(1_780_000_000_000_000);
const behind = { ...readingOf(untracked(now)), outageSince: now };
const open = readingOf(untracked(now));
const whole = { ...open, whole: true };
const expected = { seq: 5, tail: 'f5' };

function progressWith(stream: Partial<StreamProgress>, seq: number | null = 5): ReadProgress {
  const progress = initialProgress({ ...noPosition, seq });
  return { ...progress, stream: { ...progress.stream, ...stream } };
}

describe('the silence of a quiet stream', () => {
  test.each([
    ['is confirmed by pages, if there are any', { resumed: true, expected }, open, true, 'ask_pages'],
    ['means another database while its last frame is missing', { resumed: true, expected }, open, false, 'start_over'],
    ['ends a replay', { resumed: true }, open, false, 'catch_up'],
    ['causes a new connection', { resumed: true }, whole, false, 'reconnect'],
  ] as const)('the silence of a quiet stream leads to the expected action (%s)', (_, stream, reading, pages, act) => {
    expect(afterQuiet(progressWith(stream), reading, pages)).toBe(act);
  });

  test('the silence of a quiet stream is accepted if the source never sent a label', () => {
    expect(afterQuiet(progressWith({}, null), whole, false)).toBe('stay');
  });
});

describe('the confirmation of a quiet stream', () => {
  test.each([
    ['late once it is live', { resumed: true }, whole, true],
    ['late while pages fill in the time before', {}, behind, true],
    ['soon until it repeats its last frame', { resumed: true, expected }, whole, false],
    ['soon while it replays', { resumed: true, liveFrom: now }, open, false],
    ['soon while it fills in an outage', { resumed: true }, { ...whole, outageSince: now }, false],
  ] as const)('the confirmation of a quiet stream has the expected next action (%s)', (_, stream, reading, settled) => {
    expect(isSettled(progressWith(stream), reading)).toBe(settled);
  });
});
