import type { Micros } from '../../contract/timestamp.ts';
import { noPosition, type ReadPosition } from '../label/position.ts';
import type { LastFrame, PositionMove, ReadingEvent } from './reading-events.ts';

/** A stream while it is connected. */
export interface StreamProgress {
  /** The cursor with which it is opened: one before the last frame, so that it comes again; null: live. */
  readonly cursor: number | null;
  /** True if everything after the last read row arrives on this connection. */
  readonly resumed: boolean;
  /** The frame that was read last, while it still has to show up. */
  readonly expected: LastFrame | null;
  /** True if pages have reached the first live frame. */
  readonly joined: boolean;
  /** Time at which the stream was live, once it is known that pages do not fill in the time before. */
  readonly liveFrom: Micros | null;
}

/** The place at which the reading of a source goes on at one endpoint, as a value: only `progressAfter` makes the next one. */
export interface ReadProgress {
  /** The resume position: that of what is committed. */
  readonly position: ReadPosition;
  /** Cursor of the next stream connection, if it must replay earlier frames; null to resume from the last one. */
  readonly replayFrom: number | null;
  /** Rows of the last page that gave no position: it is read again, and its rows are known then. */
  readonly unplaced: ReadonlySet<string>;
  /** Rows of the last page, by the first digits of their fingerprints: pages without an order overlap. Null before the first. */
  readonly lastPage: ReadonlySet<number> | null;
  /** Looks for the last row that missed it, one after the other, and when the last of them was. */
  readonly missedTailChecks: { readonly count: number; readonly at: Micros } | null;
  /** The stream's newest frames with labels, without a hole between them, the oldest first. A list: it is copied with each batch. */
  readonly seen: readonly LastFrame[];
  /** The stream's newest frame that is committed, of the last connection; null where there is none. */
  readonly live: LastFrame | null;
  /** True if everything before the stream's frames is stored, or a gap: until then no frame number is a resume position. */
  readonly contiguous: boolean;
  /** The last connection of the stream. */
  readonly stream: StreamProgress;
}

/** Frames whose numbers are remembered. */
const maxSeen = 512;
/** Looks that miss the last row, one after the other, before it is looked for once in a while. */
const maxMissedChecks = 2;

const unseen: readonly LastFrame[] = [];
const unopened: StreamProgress = { cursor: null, resumed: false, expected: null, joined: false, liveFrom: null };

/** The place of a reader that begins at a position. */
export function initialProgress(position: ReadPosition): ReadProgress {
  return {
    ...{ position, replayFrom: null, unplaced: new Set<string>(), lastPage: null, missedTailChecks: null },
    ...{ seen: unseen, live: null, contiguous: false, stream: unopened },
  };
}

/** The place after an event; events that concern the state of the source alone leave it as it is. */
export function progressAfter(progress: ReadProgress, event: ReadingEvent): ReadProgress {
  switch (event.kind) {
    case 'stream_opening':
      return opening(progress);
    case 'stream_opened':
      return { ...progress, replayFrom: null };
    case 'filled_in':
      // Without pages it is the stream alone that fills in: up to where it is live.
      return withStream(progress, { joined: event.joined, liveFrom: event.joined ? null : event.opened });
    case 'tail_settled':
      return withStream(progress, { expected: null });
    case 'reset':
      // The stream's earlier rows no longer join what follows.
      return withStream({ ...progress, seen: unseen }, event.live ? { resumed: false } : {});
    case 'replay_found':
      return { ...progress, replayFrom: event.cursor };
    case 'frames_seen':
      return { ...progress, seen: remembering(progress.seen, event.frames) };
    case 'committed':
      return { ...progress, position: event.position, live: newestOf(event.move) ?? progress.live };
    case 'page_stored':
      return { ...progress, lastPage: event.digits, unplaced: event.unplaced };
    case 'tail_found':
      return { ...progress, missedTailChecks: null };
    case 'tail_missed':
      return { ...progress, missedTailChecks: { count: (progress.missedTailChecks?.count ?? 0) + 1, at: event.now } };
    case 'joined':
      return joined(progress);
    case 'number_forgotten':
      return { ...progress, live: null, seen: unseen, position: { ...progress.position, seq: null, seqTail: null } };
    case 'position_forgotten':
      return { ...progress, live: null, seen: unseen, contiguous: false, position: noPosition };
    default:
      return progress;
  }
}

/** A stream that is resumed is asked for its last frame again: another one in its place means another database. */
function opening(progress: ReadProgress): ReadProgress {
  const { seq, seqTail } = progress.position;
  const cursor = seq === null ? progress.replayFrom : Math.max(0, seq - 1);
  const expected = seq === null ? null : { seq, tail: seqTail };
  const resumed = cursor !== null;
  const seen = seq === null ? unseen : progress.seen;
  return { ...progress, seen, contiguous: resumed, live: null, stream: { ...unopened, cursor, resumed, expected } };
}

/** Everything before the live frames is stored, or a gap: from now on their numbers are the resume position. */
function joined(progress: ReadProgress): ReadProgress {
  const { live, position } = progress;
  const isBehind = live === null || live.seq < (position.seq ?? 0);
  const moved = isBehind ? position : { ...position, seq: live.seq, seqTail: live.tail };
  return { ...progress, contiguous: true, position: moved };
}

function withStream(progress: ReadProgress, stream: Partial<StreamProgress>): ReadProgress {
  return { ...progress, stream: { ...progress.stream, ...stream } };
}

function remembering(seen: readonly LastFrame[], frames: readonly LastFrame[]): readonly LastFrame[] {
  const fresh = frames.filter(({ tail }) => tail !== null);
  return fresh.length === 0 ? seen : [...seen, ...fresh].slice(-maxSeen);
}

function tailOf(seen: readonly LastFrame[], seq: number): string | null {
  return seen.findLast((frame) => frame.seq === seq)?.tail ?? null;
}

function newestOf(move: PositionMove): LastFrame | null {
  return move.kind === 'frames' ? move.last : null;
}

/** Returns true if the numbers of a source's frames and the cursors of its pages were seen to be the same. */
export function aligned({ seq, seqTail, cursor, cursorTail }: ReadPosition): boolean {
  return seq !== null && seq === cursor && seqTail !== null && seqTail === cursorTail;
}

/** Returns true if the last row is looked for now. A labeler that never shows it again has pages of another kind. */
export function shouldCheckTail({ missedTailChecks }: ReadProgress, now: Micros, pauseMs: number): boolean {
  return (
    missedTailChecks === null || missedTailChecks.count < maxMissedChecks || now - missedTailChecks.at >= pauseMs * 1000
  );
}

/** The resume position once the rows of a move are durable. */
export function positionAfter(progress: ReadProgress, move: PositionMove): ReadPosition {
  const { position } = progress;
  switch (move.kind) {
    case 'stay':
      return position;
    case 'frames':
      return afterFrames(progress, move.last);
    case 'page':
      return afterPage(progress, move.cursor, move.tail);
    case 'unplaced':
      return { ...position, cursor: position.cursor ?? move.start };
    case 'align':
      return position.seq !== null && position.seq >= move.seq
        ? { ...position, cursor: position.seq, cursorTail: position.seqTail }
        : position;
    default:
      return move satisfies never;
  }
}

function afterFrames({ position, contiguous }: ReadProgress, last: LastFrame | null): ReadPosition {
  if (last === null || (position.seq === null && !contiguous)) return position;
  const moved = { ...position, seq: last.seq, seqTail: last.tail };
  // Where numbers and cursors were seen to be one, they move as one.
  return aligned(position) ? { ...moved, cursor: last.seq, cursorTail: last.tail } : moved;
}

/** The position after a page. Where the stream gave the same row under that number, numbers and cursors are one. */
function afterPage({ position, seen, live }: ReadProgress, cursor: number, cursorTail: string): ReadPosition {
  const seq = position.seq ?? live?.seq ?? null;
  const seqTail = position.seq === null ? (live?.tail ?? null) : position.seqTail;
  if (seq !== null && seqTail !== null && seq >= cursor && tailOf(seen, cursor) === cursorTail) {
    return { seq, seqTail, cursor: seq, cursorTail: seqTail };
  }
  return cursor > (position.cursor ?? 0) ? { ...position, cursor, cursorTail } : position;
}
