import { describe, expect, test } from 'vitest';
import { micros } from '../../store/time.ts';
import { noPosition, type ReadPosition } from '../label/position.ts';
import { type Place, placeAfter, placeAt, positionAfter, shouldCheckTail } from './place.ts';
import type { LastFrame, PositionMove, ReadingEvent } from './reading-events.ts';

const now = micros(1_780_000_000_000_000);
const frame = (seq: number): LastFrame => ({ seq, tail: `f${seq}` });
const streamed: ReadPosition = { ...noPosition, seq: 5, seqTail: 'f5' };

function after(place: Place, ...events: readonly ReadingEvent[]): Place {
  return events.reduce(placeAfter, place);
}

/** The place once a move is durable. */
function moved(place: Place, move: PositionMove): Place {
  return placeAfter(place, { kind: 'committed', move, position: positionAfter(place, move) });
}

describe('a frame', () => {
  const frames: PositionMove = { kind: 'frames', last: frame(9) };

  test('becomes the resume position once everything before it is stored', () => {
    const live = moved(after(placeAt(noPosition), { kind: 'stream_opening' }), frames);
    expect([live.position, live.live]).toEqual([noPosition, frame(9)]);
    const joined = placeAfter(live, { kind: 'joined' });
    expect(joined.position).toEqual({ ...noPosition, seq: 9, seqTail: 'f9' });
    expect(moved(joined, { kind: 'frames', last: frame(12) }).position.seq).toBe(12);
  });

  test('moves the number alone, until numbers and cursors were seen to be one', () => {
    const apart = placeAt({ ...streamed, cursor: 5, cursorTail: 'p5' });
    expect(moved(apart, frames).position).toEqual({ seq: 9, seqTail: 'f9', cursor: 5, cursorTail: 'p5' });
    const aligned = moved(apart, { kind: 'align', seq: 5 });
    expect(moved(aligned, frames).position).toEqual({ seq: 9, seqTail: 'f9', cursor: 9, cursorTail: 'f9' });
  });

  test('whose numbers all fall moves nothing', () => {
    expect(moved(placeAt(streamed), { kind: 'frames', last: null }).position).toEqual(streamed);
  });

  test('behind which the stream has not come yet does not join', () => {
    const place = { ...placeAt(streamed), live: frame(3) };
    expect(placeAfter(place, { kind: 'joined' }).position).toEqual(streamed);
  });
});

describe('a page', () => {
  const page: PositionMove = { kind: 'page', cursor: 7, tail: 'f7' };
  const seen: ReadingEvent = { kind: 'frames_seen', frames: [frame(6), frame(7), frame(8)] };

  test('moves the cursor, and never back', () => {
    const place = moved(placeAt(noPosition), page);
    expect(place.position).toMatchObject({ cursor: 7, cursorTail: 'f7' });
    expect(moved(place, { kind: 'page', cursor: 6, tail: 'f6' }).position.cursor).toBe(7);
  });

  test('whose last row the stream gave under that number shows that cursors are numbers', () => {
    const place = moved(placeAfter(placeAt(streamed), seen), { kind: 'frames', last: frame(8) });
    expect(moved(place, page).position).toEqual({ seq: 8, seqTail: 'f8', cursor: 8, cursorTail: 'f8' });
  });

  test('shows nothing of frames from before a reset', () => {
    const reset: ReadingEvent = { kind: 'reset', now, epoch: now, live: false };
    const place = moved(after(placeAt(streamed), seen, reset), { kind: 'frames', last: frame(8) });
    expect(moved(place, page).position).toMatchObject({ seq: 8, cursor: 7 });
  });

  test('without a position leaves the cursor where it is, or at the start', () => {
    const unplaced: PositionMove = { kind: 'unplaced', start: 40 };
    expect(moved(placeAt(noPosition), unplaced).position.cursor).toBe(40);
    expect(moved(placeAt({ ...noPosition, cursor: 50 }), unplaced).position.cursor).toBe(50);
  });
});

describe('a connection to the stream', () => {
  test('resumes one frame before the last, which has to show up', () => {
    const { stream, contiguous } = placeAfter(placeAt(streamed), { kind: 'stream_opening' });
    expect(stream).toEqual({ cursor: 4, resumed: true, expected: frame(5), joined: false, liveFrom: null });
    expect(contiguous).toBe(true);
  });

  test('is live where nothing is known, and replays from where samples showed', () => {
    const live = placeAfter(placeAt(noPosition), { kind: 'stream_opening' });
    expect(live.stream).toMatchObject({ cursor: null, resumed: false, expected: null });
    const replay = after(live, { kind: 'replay_found', cursor: 30 }, { kind: 'stream_opening' });
    expect(replay.stream).toMatchObject({ cursor: 30, resumed: true, expected: null });
    expect(placeAfter(replay, { kind: 'stream_opened' }).replayFrom).toBe(null);
  });

  test('that was cut is live from then on', () => {
    const open = placeAfter(placeAt(streamed), { kind: 'stream_opening' });
    const cut = placeAfter(open, { kind: 'reset', now, epoch: now, live: true });
    expect([cut.stream.resumed, cut.position]).toEqual([false, streamed]);
  });

  test('fills in until it was live where pages do not', () => {
    const open = placeAfter(placeAt(streamed), { kind: 'stream_opening' });
    const filled = (joined: boolean) => placeAfter(open, { kind: 'filled_in', joined, opened: now }).stream;
    expect([filled(true).liveFrom, filled(false).liveFrom]).toEqual([null, now]);
  });

  test('remembers the newest 512 frames', () => {
    const frames = Array.from({ length: 600 }, (_, n) => frame(n));
    const { seen } = placeAfter(placeAt(noPosition), { kind: 'frames_seen', frames });
    expect(seen).toEqual(frames.slice(88));
  });

  test('goes on elsewhere without its number, and a reset database without any position', () => {
    const place = { ...placeAt({ ...streamed, cursor: 3, cursorTail: 'p3' }), live: frame(5) };
    const elsewhere = placeAfter(place, { kind: 'number_forgotten' });
    expect([elsewhere.position, elsewhere.live]).toEqual([{ ...noPosition, cursor: 3, cursorTail: 'p3' }, null]);
    const reset = placeAfter(place, { kind: 'position_forgotten' });
    expect([reset.position, reset.live, reset.contiguous]).toEqual([noPosition, null, false]);
  });
});

test('the last row is looked for once in a while after two looks that missed it, and always after one that found it', () => {
  const missed: ReadingEvent = { kind: 'tail_missed', now };
  const once = placeAfter(placeAt(streamed), missed);
  const twice = placeAfter(once, missed);
  const later = micros(now + 1_000_000);
  expect([shouldCheckTail(once, later, 2_000), shouldCheckTail(twice, later, 2_000)]).toEqual([true, false]);
  expect(shouldCheckTail(twice, later, 1_000)).toBe(true);
  expect(shouldCheckTail(placeAfter(twice, { kind: 'tail_found' }), later, 2_000)).toBe(true);
});
