import type { Micros } from '../../contract/timestamp.ts';
import type { Peer } from '../../network/http/http.ts';
import type { GapChange } from '../../store/port.ts';
import {
  type LastFrame,
  type MarkedRow,
  noPosition,
  type PositionMove,
  type ReadingEvent,
  type ReadPosition,
  type UnplacedRow,
} from './reading-events.ts';
import type { ReadingState } from './reading-state.ts';
import { SeenFrames } from './seen-frames.ts';
import type { Tracker } from './tracker.ts';

/**
 * A source while it is read at one endpoint, with its progress, which only `apply` changes. The tracker outlives the
 * source, because a labeler may move to another endpoint.
 */
export class Source {
  readonly did: string;
  readonly endpoint: string;
  /** The source and its current privilege, for the slots of its host. */
  readonly peer: Peer;
  readonly tracker: Tracker;
  #progress: ReadProgress;

  /** `former` is the last row that was read at the former endpoint, if that endpoint was another one. */
  constructor(
    { did, endpoint, peer }: Pick<Source, 'did' | 'endpoint' | 'peer'>,
    tracker: Tracker,
    position: ReadPosition,
    former: MarkedRow | null = null,
  ) {
    this.did = did;
    this.endpoint = endpoint;
    this.peer = peer;
    this.tracker = tracker;
    this.#progress = { ...initialProgress(position), former };
  }

  /** Applies an event. Returns the gap that must be recorded or withdrawn, or null. */
  apply(event: ReadingEvent): GapChange | null {
    this.#progress = progressAfter(this.#progress, event);
    return this.tracker.apply(event);
  }

  /** Progress of reading at this endpoint. */
  get progress(): ReadProgress {
    return this.#progress;
  }

  get position(): ReadPosition {
    return this.#progress.position;
  }

  /** Frame of the position, or else the newest frame of the connection; null if neither is known. */
  get lastFrame(): LastFrame | null {
    return lastFrame(this.#progress);
  }

  /** True if frame numbers and page cursors are known to be the same. */
  get isAligned(): boolean {
    return aligned(this.position);
  }
}

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

/** Consecutive messages of the stream that were not understood. */
interface Hole {
  /** Time at which the last of the messages arrived. */
  readonly last: Micros;
  /** Last frame that was understood before the messages; null if its number is not known. */
  readonly before: LastFrame | null;
}

/** Progress of reading a source at one endpoint: an immutable value that only `progressAfter` changes. */
interface ReadProgress {
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
  /** Newest row of the last page if that page had no usable cursor; otherwise null. */
  readonly newest: UnplacedRow | null;
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
  readonly seen: SeenFrames;
  /** Newest committed frame of the last connection, or null if no frame was committed. */
  readonly live: LastFrame | null;
  /**
   * True if all labels before the stream's frames are stored or recorded as a gap; a frame number is a resume position
   * only if this is true.
   */
  readonly contiguous: boolean;
  /** Holes in the stream that no page has closed, oldest first. The position never moves past the first of them. */
  readonly holes: readonly Hole[];
  /**
   * Last row that was read at the former endpoint, if it is not known yet whether this endpoint has it; otherwise null.
   */
  readonly former: MarkedRow | null;
  /** Progress of the last connection. */
  readonly stream: StreamProgress;
}

/** Maximum number of holes that are remembered separately. Further messages extend the last hole. */
const maxHoles = 64;

/** Number of consecutive checks that do not find the last row, after which checks become rare. */
const maxMissedChecks = 2;

const unopened: StreamProgress = { cursor: null, resumed: false, expected: null, joined: false, liveFrom: null };

/** Returns the progress of a reader that begins at a position. */
export function initialProgress(position: ReadPosition): ReadProgress {
  return {
    ...{
      position,
      replayFrom: null,
      unplaced: new Set<string>(),
      newest: null,
      lastPage: null,
      missedTailChecks: null,
    },
    ...{ seen: SeenFrames.none, live: null, contiguous: false, holes: [], former: null, stream: unopened },
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
      // The remembered frames are not consecutive with the frames after the reset. The gap of the reset covers all holes.
      return withStream({ ...progress, seen: SeenFrames.none, holes: [] }, event.live ? { resumed: false } : {});
    case 'replay_found':
      return { ...progress, replayFrom: event.cursor };
    case 'frames_seen':
      return { ...progress, seen: progress.seen.followedBy(event.frames) };
    case 'committed':
      return { ...progress, position: event.position, live: newestOf(event.move) ?? progress.live };
    case 'page_stored':
      return { ...progress, lastPage: event.digits, unplaced: event.unplaced, newest: event.newest };
    case 'newest_missed':
      return progress.newest === event.newest ? { ...progress, newest: null } : progress;
    case 'former_checked':
      return { ...progress, former: null };
    case 'tail_found':
      return { ...progress, missedTailChecks: null };
    case 'tail_missed':
      return { ...progress, missedTailChecks: { count: (progress.missedTailChecks?.count ?? 0) + 1, at: event.now } };
    case 'joined':
      return joined(progress);
    case 'number_forgotten':
      return {
        ...{
          ...progress,
          live: null,
          seen: SeenFrames.none,
          position: { ...progress.position, seq: null, seqTail: null },
        },
        holes: progress.holes.map((hole) => ({ ...hole, before: null })),
      };
    case 'position_forgotten':
      return { ...progress, live: null, seen: SeenFrames.none, contiguous: false, holes: [], position: noPosition };
    case 'hole_found':
      return withHole(progress, { last: event.now, before: event.before ?? newestRead(progress) });
    case 'holes_closed':
      return withoutHoles(progress, event.through);
    case 'not_filled_in':
      return withoutHoles(progress, event.opened);
    case 'holes_left':
      return withoutHoles(progress);
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
  const seen = seq === null ? SeenFrames.none : progress.seen;
  return { ...progress, seen, contiguous: resumed, live: null, stream: { ...unopened, cursor, resumed, expected } };
}

/**
 * Returns the progress after all labels before the live frames are stored or recorded as a gap. The newest live frame
 * before the first hole is then the resume position.
 */
function joined(progress: ReadProgress): ReadProgress {
  const contiguous = { ...progress, contiguous: true };
  return { ...contiguous, position: afterLive(contiguous) };
}

/**
 * Returns the position at the newest live frame before the first hole, unless the position has a higher number or the
 * labels before the live frames are missing.
 */
function afterLive({ position, contiguous, holes, live }: ReadProgress): ReadPosition {
  const newest = holes[0] === undefined ? live : holes[0].before;
  if (newest === null || newest.seq < (position.seq ?? 0) || (position.seq === null && !contiguous)) return position;
  return { ...position, seq: newest.seq, seqTail: newest.tail };
}

/** Returns the frame of the position, or else the newest frame of the connection; null if neither is known. */
function lastFrame({ position, live }: Pick<ReadProgress, 'position' | 'live'>): LastFrame | null {
  return position.seq === null ? live : { seq: position.seq, tail: position.seqTail };
}

/** Returns the newest frame that is stored, or null if there is none. */
function newestRead({ position, live }: ReadProgress): LastFrame | null {
  const last = lastFrame({ position, live });
  return last === null || (live !== null && live.seq > last.seq) ? live : last;
}

/** Returns the progress with a further hole. The frames before a hole are not consecutive with those after it. */
function withHole(progress: ReadProgress, hole: Hole): ReadProgress {
  const { holes } = progress;
  const previous = holes.at(-1);
  const isSame = previous !== undefined && previous.before?.seq === hole.before?.seq;
  const extended = previous !== undefined && (isSame || holes.length >= maxHoles);
  const all = extended ? [...holes.slice(0, -1), { ...previous, last: hole.last }] : [...holes, hole];
  return { ...progress, seen: SeenFrames.none, holes: all };
}

/** Returns the progress without the holes until `through`, or without any hole; the position moves to the next one. */
function withoutHoles(progress: ReadProgress, through = Number.POSITIVE_INFINITY): ReadProgress {
  const holes = progress.holes.filter(({ last }) => last > through);
  if (holes.length === progress.holes.length) return progress;
  const left = { ...progress, holes };
  return { ...left, position: afterLive(left) };
}

function withStream(progress: ReadProgress, stream: Partial<StreamProgress>): ReadProgress {
  return { ...progress, stream: { ...progress.stream, ...stream } };
}

function newestOf(move: PositionMove): LastFrame | null {
  return move.kind === 'frames' ? move.last : null;
}

/** Returns true if the source's frame numbers and page cursors are known to be the same. */
function aligned({ seq, seqTail, cursor, cursorTail }: ReadPosition): boolean {
  return seq !== null && seq === cursor && seqTail !== null && seqTail === cursorTail;
}

/**
 * Returns true if the last row should be checked now. After two consecutive checks that did not find the row, checks
 * are `pauseMs` apart, because the pages of some labelers never show the last row again. A check in the future, from
 * before the clock was set back, causes no pause.
 */
export function shouldCheckTail({ missedTailChecks }: ReadProgress, now: Micros, pauseMs: number): boolean {
  if (missedTailChecks === null || missedTailChecks.count < maxMissedChecks) return true;
  return now < missedTailChecks.at || now - missedTailChecks.at >= pauseMs * 1000;
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

function afterFrames({ position, contiguous, holes }: ReadProgress, newest: LastFrame | null): ReadPosition {
  const last = holes[0] === undefined ? newest : holes[0].before;
  if (last === null || (position.seq === null && !contiguous)) return position;
  if (holes.length > 0 && last.seq < (position.seq ?? 0)) return position;
  const moved = { ...position, seq: last.seq, seqTail: last.tail };
  // If frame numbers and cursors are the same, both are moved.
  return aligned(position) ? { ...moved, cursor: last.seq, cursorTail: last.tail } : moved;
}

/**
 * Returns the position after a page. If the stream delivered the same row with this number, frame numbers and cursors
 * are the same. Otherwise, a cursor that is not higher does not change the position.
 */
function afterPage(progress: ReadProgress, cursor: number, cursorTail: string): ReadPosition {
  const { position, seen, live, holes } = progress;
  // A frame from before a hole may arrive again after it, so that the frames are not consecutive.
  const frame = holes[0] === undefined ? live : holes[0].before;
  const seq = position.seq ?? frame?.seq ?? null;
  const seqTail = position.seq === null ? (frame?.tail ?? null) : position.seqTail;
  if (seq !== null && seqTail !== null && seq >= cursor && seen.endsWith(cursor, cursorTail)) {
    return { seq, seqTail, cursor: seq, cursorTail: seqTail };
  }
  return cursor > (position.cursor ?? 0) ? { ...position, cursor, cursorTail } : position;
}

/**
 * Returns true if the stream is expected neither to repeat its last frame nor to deliver earlier labels. A reader
 * waits longer before it confirms the silence of such a stream.
 */
export function isSettled({ stream }: ReadProgress, { whole, outageSince }: ReadingState): boolean {
  const isReplaying = stream.resumed && stream.liveFrom !== null && !whole;
  return stream.expected === null && !isReplaying && !(stream.resumed && outageSince !== null);
}

/** Next action of a reader whose stream has been quiet. */
type QuietAction =
  /** Read the pages to their end. */
  | 'ask_pages'
  /** The stream did not repeat its last frame: read all labels again. */
  | 'start_over'
  /** The stream has replayed all labels: record that the source is complete. */
  | 'catch_up'
  /** No frame number is known that the stream could repeat: keep the connection. */
  | 'stay'
  /** Reconnect, so that the stream repeats its last frame. */
  | 'reconnect';

/** Returns the next action after the silence of a stream; `pages` is true if the pages of the labeler can be read. */
export function afterQuiet({ stream, position }: ReadProgress, { whole }: ReadingState, pages: boolean): QuietAction {
  if (pages) return 'ask_pages';
  if (stream.expected !== null) return 'start_over';
  if (stream.resumed && !whole) return 'catch_up';
  return position.seq === null ? 'stay' : 'reconnect';
}
