import { describe, expect, test } from 'vitest';
import { day, micros } from '../../store/time.ts';
import {
  type LastFrame,
  noPosition,
  type PositionMove,
  type ReadingEvent,
  type ReadPosition,
} from './reading-events.ts';
import { readingOf, untracked } from './reading-state.ts';
import {
  afterQuiet,
  initialProgress,
  isSettled,
  positionAfter,
  progressAfter,
  type StreamProgress,
  shouldCheckTail,
} from './source.ts';

type ReadProgress = ReturnType<typeof initialProgress>;

const now = micros(1_780_000_000_000_000);
const frame = (seq: number): LastFrame => ({ seq, tail: `f${seq}` });
const streamed: ReadPosition = { ...noPosition, seq: 5, seqTail: 'f5' };

function advanced(progress: ReadProgress, ...events: readonly ReadingEvent[]): ReadProgress {
  return events.reduce(progressAfter, progress);
}

/** Returns the progress after a move becomes durable. */
function moved(progress: ReadProgress, move: PositionMove): ReadProgress {
  return progressAfter(progress, { kind: 'committed', move, position: positionAfter(progress, move) });
}

describe('a frame of the stream', () => {
  const frames: PositionMove = { kind: 'frames', last: frame(9) };

  test('becomes the resume position once all labels before it are stored', () => {
    const live = moved(advanced(initialProgress(noPosition), { kind: 'stream_opening' }), frames);
    expect([live.position, live.live]).toEqual([noPosition, frame(9)]);
    const joined = progressAfter(live, { kind: 'joined' });
    expect(joined.position).toEqual({ ...noPosition, seq: 9, seqTail: 'f9' });
    expect(moved(joined, { kind: 'frames', last: frame(12) }).position.seq).toBe(12);
  });

  test('changes only the frame number, until frame numbers and page cursors are known to be the same', () => {
    const apart = initialProgress({ ...streamed, cursor: 5, cursorTail: 'p5' });
    expect(moved(apart, frames).position).toEqual({ seq: 9, seqTail: 'f9', cursor: 5, cursorTail: 'p5' });
    const aligned = moved(apart, { kind: 'align', seq: 5 });
    expect(moved(aligned, frames).position).toEqual({ seq: 9, seqTail: 'f9', cursor: 9, cursorTail: 'f9' });
  });

  test('does not change the position if all frames have lower numbers', () => {
    expect(moved(initialProgress(streamed), { kind: 'frames', last: null }).position).toEqual(streamed);
  });

  test('does not become the position if it is older than the position', () => {
    const progress = { ...initialProgress(streamed), live: frame(3) };
    expect(progressAfter(progress, { kind: 'joined' }).position).toEqual(streamed);
  });
});

describe('a page of labels', () => {
  const page: PositionMove = { kind: 'page', cursor: 7, tail: 'f7' };
  const seen: ReadingEvent = { kind: 'frames_seen', frames: [frame(6), frame(7), frame(8)] };

  test('moves the cursor forward, but not back', () => {
    const progress = moved(initialProgress(noPosition), page);
    expect(progress.position).toMatchObject({ cursor: 7, cursorTail: 'f7' });
    expect(moved(progress, { kind: 'page', cursor: 6, tail: 'f6' }).position.cursor).toBe(7);
  });

  test('shows that cursors are frame numbers if its cursor equals the number of the frame that contains its last row', () => {
    const progress = moved(progressAfter(initialProgress(streamed), seen), { kind: 'frames', last: frame(8) });
    expect(moved(progress, page).position).toEqual({ seq: 8, seqTail: 'f8', cursor: 8, cursorTail: 'f8' });
  });

  test('does not show that if the frame with this number contains another row', () => {
    const progress = moved(progressAfter(initialProgress(streamed), seen), { kind: 'frames', last: frame(8) });
    const { position } = moved(progress, { ...page, tail: 'e7' });
    expect(position).toEqual({ seq: 8, seqTail: 'f8', cursor: 7, cursorTail: 'e7' });
  });

  test('is not compared with frames from before a reset', () => {
    const reset: ReadingEvent = { kind: 'reset', now, epoch: now, live: false };
    const progress = moved(advanced(initialProgress(streamed), seen, reset), { kind: 'frames', last: frame(8) });
    expect(moved(progress, page).position).toMatchObject({ seq: 8, cursor: 7 });
  });

  test('with an unusable cursor leaves a known cursor unchanged, and sets an unknown cursor to the start', () => {
    const unplaced: PositionMove = { kind: 'unplaced', start: 40 };
    expect(moved(initialProgress(noPosition), unplaced).position.cursor).toBe(40);
    expect(moved(initialProgress({ ...noPosition, cursor: 50 }), unplaced).position.cursor).toBe(50);
  });
});

describe('a connection to the stream', () => {
  test('resumes one frame before the last frame, which the stream must repeat', () => {
    const { stream, contiguous } = progressAfter(initialProgress(streamed), { kind: 'stream_opening' });
    expect(stream).toEqual({ cursor: 4, resumed: true, expected: frame(5), joined: false, liveFrom: null });
    expect(contiguous).toBe(true);
  });

  test('is live without a position, and replays labels from a sampled cursor', () => {
    const live = progressAfter(initialProgress(noPosition), { kind: 'stream_opening' });
    expect(live.stream).toMatchObject({ cursor: null, resumed: false, expected: null });
    const replay = advanced(live, { kind: 'replay_found', cursor: 30 }, { kind: 'stream_opening' });
    expect(replay.stream).toMatchObject({ cursor: 30, resumed: true, expected: null });
    expect(progressAfter(replay, { kind: 'stream_opened' }).replayFrom).toBe(null);
  });

  test('does not count as resumed after a reset, and the position stays the same', () => {
    const open = progressAfter(initialProgress(streamed), { kind: 'stream_opening' });
    const cut = progressAfter(open, { kind: 'reset', now, epoch: now, live: true });
    expect([cut.stream.resumed, cut.position]).toEqual([false, streamed]);
  });

  test('is live from its opening if polls do not fill in the labels', () => {
    const open = progressAfter(initialProgress(streamed), { kind: 'stream_opening' });
    const filled = (joined: boolean) => progressAfter(open, { kind: 'filled_in', joined, opened: now }).stream;
    expect([filled(true).liveFrom, filled(false).liveFrom]).toEqual([null, now]);
  });

  test('retains the newest 512 frames', () => {
    const frames = Array.from({ length: 600 }, (_, n) => frame(n));
    const first = progressAfter(initialProgress(noPosition), { kind: 'frames_seen', frames: frames.slice(0, 300) });
    const { seen } = progressAfter(first, { kind: 'frames_seen', frames: frames.slice(300) });
    const remembered = frames.filter(({ seq, tail }) => seen.endsWith(seq, tail ?? ''));
    expect(remembered).toEqual(frames.slice(88));
    // The progress before the later frames is unchanged.
    expect([first.seen.endsWith(0, 'f0'), first.seen.endsWith(300, 'f300')]).toEqual([true, false]);
  });

  test('loses the frame number if the stream does not continue after its last frame, and the whole position if the database is reset', () => {
    const progress = { ...initialProgress({ ...streamed, cursor: 3, cursorTail: 'p3' }), live: frame(5) };
    const elsewhere = progressAfter(progress, { kind: 'number_forgotten' });
    expect([elsewhere.position, elsewhere.live]).toEqual([{ ...noPosition, cursor: 3, cursorTail: 'p3' }, null]);
    const reset = progressAfter(progress, { kind: 'position_forgotten' });
    expect([reset.position, reset.live, reset.contiguous]).toEqual([noPosition, null, false]);
  });
});

test('the last row is checked rarely after two checks that did not find it, and always after a check that found it', () => {
  const missed: ReadingEvent = { kind: 'tail_missed', now };
  const once = progressAfter(initialProgress(streamed), missed);
  const twice = progressAfter(once, missed);
  const later = micros(now + 1_000_000);
  expect([shouldCheckTail(once, later, 2_000), shouldCheckTail(twice, later, 2_000)]).toEqual([true, false]);
  expect(shouldCheckTail(twice, later, 1_000)).toBe(true);
  expect(shouldCheckTail(progressAfter(twice, { kind: 'tail_found' }), later, 2_000)).toBe(true);
});

test('the last row is checked again after a clock that was ahead at the last check was set back', () => {
  const missed: ReadingEvent = { kind: 'tail_missed', now };
  const progress = advanced(initialProgress(streamed), missed, missed);
  expect(shouldCheckTail(progress, micros(now - 10 * day), 2_000)).toBe(true);
});

describe('a hole in the stream', () => {
  const found = (at: number, before: LastFrame | null = null): ReadingEvent => ({
    ...{ kind: 'hole_found', now: micros(now + at), epoch: now, before },
  });
  const closed = (at: number): ReadingEvent => ({ kind: 'holes_closed', through: micros(now + at) });
  const frames = (seq: number): PositionMove => ({ kind: 'frames', last: frame(seq) });
  const resumed = advanced(initialProgress({ ...streamed, cursor: 5, cursorTail: 'f5' }), { kind: 'stream_opening' });

  test('is not passed by the number or the cursor of later frames until pages close it', () => {
    const holed = moved(advanced(resumed, found(1, frame(7))), frames(9));
    expect(holed.position).toEqual({ seq: 7, seqTail: 'f7', cursor: 7, cursorTail: 'f7' });
    expect(advanced(holed, closed(0)).position.seq).toBe(7);
    expect(advanced(holed, closed(1))).toMatchObject({ holes: [], position: { seq: 9, seqTail: 'f9', cursor: 7 } });
  });

  test('is not passed when an earlier one is closed', () => {
    const first = moved(advanced(resumed, found(1)), frames(8));
    const second = moved(advanced(first, found(2)), frames(9));
    expect(second.position.seq).toBe(5);
    expect(advanced(second, closed(1)).position.seq).toBe(8);
    expect(advanced(second, closed(2)).position.seq).toBe(9);
  });

  test('is not passed by a page whose last row was in a later frame', () => {
    const live = moved(advanced(initialProgress(noPosition), { kind: 'stream_opening' }), frames(6));
    const holed = advanced(live, { kind: 'frames_seen', frames: [frame(6)] }, found(1));
    const page: PositionMove = { kind: 'page', cursor: 6, tail: 'f6' };
    expect(moved(moved(holed, frames(8)), page).position).toMatchObject({ seq: null, cursor: 6 });
    expect(advanced(moved(holed, frames(8)), { kind: 'joined' }).position.seq).toBe(6);
  });

  test('is passed once it is recorded as a gap', () => {
    const holed = moved(advanced(resumed, found(1)), frames(9));
    expect(advanced(holed, { kind: 'holes_left' }).position.seq).toBe(9);
    expect(advanced(holed, { kind: 'not_filled_in', since: now, opened: micros(now + 1) }).position.seq).toBe(9);
    expect(advanced(holed, { kind: 'reset', now, epoch: now, live: true }).holes).toEqual([]);
  });

  test('keeps its place if there are very many of them', () => {
    const many = Array.from({ length: 200 }, (_, i) => found(i + 1, frame(i + 6)));
    const holed = moved(advanced(resumed, ...many), frames(900));
    expect(holed.holes).toHaveLength(64);
    expect(advanced(holed, closed(199)).position.seq).toBe(69);
    expect(advanced(holed, closed(200)).position.seq).toBe(900);
  });

  test('without a known frame number keeps later numbers from becoming the position', () => {
    const forgotten = advanced(resumed, found(1, frame(7)), { kind: 'number_forgotten' });
    expect(moved(forgotten, frames(9)).position.seq).toBe(null);
  });
});

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
