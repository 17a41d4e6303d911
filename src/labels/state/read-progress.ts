import type { Micros } from '../../contract/timestamp.ts';
import { noPosition, type ReadPosition } from '../label/position.ts';
import type { LastFrame, PositionMove, ReadingEvent } from './reading-events.ts';

/** Progress of one connection to the stream. */
export interface StreamProgress {
  /**
   * Cursor of the connection: the number before the last frame, so that the stream repeats that frame. If there is no
   * last frame: the cursor of a replay, or null to read live.
   */
  readonly cursor: number | null;
  /** True if all labels after the last read row arrive on this connection. */
  readonly resumed: boolean;
  /**
   * Last frame that was read. Null once the connection has repeated this frame, or if the connection need not repeat a
   * frame.
   */
  readonly expected: LastFrame | null;
  /** True if polls have read all labels before the first live frame. */
  readonly joined: boolean;
  /**
   * Opening time of the connection if polls do not fill in its earlier labels. Null if polls have filled in these
   * labels, or if that is not known yet.
   */
  readonly liveFrom: Micros | null;
}

/** Progress of reading a source at one endpoint: an immutable value that only `progressAfter` changes. */
export interface ReadProgress {
  /** Committed resume position of the source. */
  readonly position: ReadPosition;
  /**
   * Cursor of the next stream connection if the stream must replay earlier frames, or null if no replay is necessary.
   */
  readonly replayFrom: number | null;
  /**
   * Fingerprints of the rows of the last page if that page had no usable cursor; otherwise empty. The reader requests
   * such a page again and skips its known rows.
   */
  readonly unplaced: ReadonlySet<string>;
  /**
   * First digits of the fingerprints of the rows of the last page, which are used to detect overlaps of unordered
   * pages. Null before the first page.
   */
  readonly lastPage: ReadonlySet<number> | null;
  /**
   * Number of consecutive checks that did not find the last row, and the time of the latest such check, or null if the
   * last check found it.
   */
  readonly missedTailChecks: { readonly count: number; readonly at: Micros } | null;
  /** Newest consecutive frames that contain labels, oldest first. */
  readonly seen: readonly LastFrame[];
  /** Newest committed frame of the last connection, or null if no frame was committed. */
  readonly live: LastFrame | null;
  /**
   * True if all labels before the stream's frames are stored or recorded as a gap; a frame number is a resume position
   * only if this is true.
   */
  readonly contiguous: boolean;
  /** Progress of the last connection. */
  readonly stream: StreamProgress;
}

/** Maximum number of frames whose numbers are remembered. */
const maxSeen = 512;
/** Number of consecutive checks that do not find the last row, after which checks become rare. */
const maxMissedChecks = 2;

const unseen: readonly LastFrame[] = [];
const unopened: StreamProgress = { cursor: null, resumed: false, expected: null, joined: false, liveFrom: null };

/** Returns the progress of a reader that begins at a position. */
export function initialProgress(position: ReadPosition): ReadProgress {
  return {
    ...{ position, replayFrom: null, unplaced: new Set<string>(), lastPage: null, missedTailChecks: null },
    ...{ seen: unseen, live: null, contiguous: false, stream: unopened },
  };
}

/** Returns the progress after an event, or the same progress if the event concerns only the state of the source. */
export function progressAfter(progress: ReadProgress, event: ReadingEvent): ReadProgress {
  switch (event.kind) {
    case 'stream_opening':
      return opening(progress);
    case 'stream_opened':
      return { ...progress, replayFrom: null };
    case 'filled_in':
      // If polls do not work, the stream itself delivers the missing labels before it is live.
      return withStream(progress, { joined: event.joined, liveFrom: event.joined ? null : event.opened });
    case 'tail_settled':
      return withStream(progress, { expected: null });
    case 'reset':
      // The remembered frames are not consecutive with the frames after the reset.
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

/**
 * Returns the progress at the start of a connection. A stream that resumes at its last frame must repeat that frame;
 * another frame with the same number means that the database was replaced. A replay has no frame to repeat.
 */
function opening(progress: ReadProgress): ReadProgress {
  const { seq, seqTail } = progress.position;
  const cursor = seq === null ? progress.replayFrom : Math.max(0, seq - 1);
  const expected = seq === null ? null : { seq, tail: seqTail };
  const resumed = cursor !== null;
  const seen = seq === null ? unseen : progress.seen;
  return { ...progress, seen, contiguous: resumed, live: null, stream: { ...unopened, cursor, resumed, expected } };
}

/**
 * Returns the progress after all labels before the live frames are stored or recorded as a gap. The newest live frame
 * is then the resume position, unless the connection has no committed frame or the position has a higher number.
 */
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

/** Returns true if the source's frame numbers and page cursors are known to be the same. */
export function aligned({ seq, seqTail, cursor, cursorTail }: ReadPosition): boolean {
  return seq !== null && seq === cursor && seqTail !== null && seqTail === cursorTail;
}

/**
 * Returns true if the last row should be checked now. After two consecutive checks that did not find the row, checks
 * are `pauseMs` apart, because the pages of some labelers never show the last row again.
 */
export function shouldCheckTail({ missedTailChecks }: ReadProgress, now: Micros, pauseMs: number): boolean {
  return (
    missedTailChecks === null || missedTailChecks.count < maxMissedChecks || now - missedTailChecks.at >= pauseMs * 1000
  );
}

/** Returns the resume position once the rows of a move are durable. */
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
  // If frame numbers and cursors are the same, both are moved.
  return aligned(position) ? { ...moved, cursor: last.seq, cursorTail: last.tail } : moved;
}

/**
 * Returns the position after a page. If the stream delivered the same row with this number, frame numbers and cursors
 * are the same. Otherwise, a cursor that is not higher does not change the position.
 */
function afterPage({ position, seen, live }: ReadProgress, cursor: number, cursorTail: string): ReadPosition {
  const seq = position.seq ?? live?.seq ?? null;
  const seqTail = position.seq === null ? (live?.tail ?? null) : position.seqTail;
  if (seq !== null && seqTail !== null && seq >= cursor && tailOf(seen, cursor) === cursorTail) {
    return { seq, seqTail, cursor: seq, cursorTail: seqTail };
  }
  return cursor > (position.cursor ?? 0) ? { ...position, cursor, cursorTail } : position;
}
