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
    ['is confirmed by pages if the pages can be read', { resumed: true, expected }, open, true, 'ask_pages'],
    ['restarts the reading if the last frame is missing', { resumed: true, expected }, open, false, 'start_over'],
    ['ends a replay', { resumed: true }, open, false, 'catch_up'],
    ['causes a new connection', { resumed: true }, whole, false, 'reconnect'],
  ] as const)('%s', (_, stream, reading, pages, act) => {
    expect(afterQuiet(progressWith(stream), reading, pages)).toBe(act);
  });

  test('is accepted if the source never sent a label', () => {
    expect(afterQuiet(progressWith({}, null), whole, false)).toBe('stay');
  });
});

describe('a quiet stream', () => {
  test.each([
    ['after confirmMs once the stream is live', { resumed: true }, whole, true],
    ['after confirmMs while pages fill in the time before the stream', {}, behind, true],
    ['after resumeMs until the stream repeats its last frame', { resumed: true, expected }, whole, false],
    ['after resumeMs while the stream replays labels', { resumed: true, liveFrom: now }, open, false],
    ['after resumeMs while the stream fills in an outage', { resumed: true }, { ...whole, outageSince: now }, false],
  ] as const)('has its silence confirmed %s', (_, stream, reading, settled) => {
    expect(isSettled(progressWith(stream), reading)).toBe(settled);
  });
});
