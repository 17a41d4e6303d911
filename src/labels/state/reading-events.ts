import type { Micros } from '../../contract/timestamp.ts';
import type { LabelerProblem } from '../../contract/vocabulary.ts';
import type { JsonAnswer } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';

/** Kind of failure of an attempt to read a source. */
type Fault = 'refusing' | 'rejecting' | 'failed' | 'order_unverified';

/** Unread part of a source's labels when its reading begins. */
export interface Unread {
  /** Time since which the source was not known to be complete. */
  readonly since: Micros;
  /** Labels authored before this time are refused as late or as older than the epoch. */
  readonly target: Micros;
}

/** Last frame of a stream, as stored in a position. */
export interface LastFrame {
  readonly seq: number;
  /** Mark of the last label of the frame, or null if the frame had no label. */
  readonly tail: string | null;
}

/** A row of a page without a usable cursor: its mark, and the cursor with which the page was requested. */
export interface UnplacedRow {
  readonly mark: string;
  readonly after: number;
}

/** Change to the resume position once rows are durable. */
export type PositionMove =
  | { readonly kind: 'stay' }
  /**
   * Moves the position to the newest of several frames; `last` is null if every frame has a lower number than the last
   * frame that was read.
   */
  | { readonly kind: 'frames'; readonly last: LastFrame | null }
  /** Moves the position after a page, with the mark of the page's last row. */
  | { readonly kind: 'page'; readonly cursor: number; readonly tail: string }
  /** Does not move the position, because the page had no usable cursor. A first read begins at `start`. */
  | { readonly kind: 'unplaced'; readonly start: number }
  /** Moves the cursor to the newest frame, because a page shows the row of frame `seq` with that number. */
  | { readonly kind: 'align'; readonly seq: number };

/** Events that change how a source is read. An event contains all times, because `step` reads no clock. */
export type ReadingEvent =
  /** An attempt to read the source begins. */
  | { readonly kind: 'asked'; readonly now: Micros }
  /** A limit of this instrument prevented the attempt. */
  | { readonly kind: 'not_asked' }
  /** An attempt failed; `problem` is `unknown` if absent. */
  | { readonly kind: 'failed'; readonly now: Micros; readonly fault: Fault; readonly problem?: LabelerProblem }
  /**
   * A page or several frames were admitted. `dated` and `undated` are the numbers of their labels with and without a
   * usable date. `live` is the time up to which everything that a stream delivered has been taken; null for a page.
   */
  | {
      readonly kind: 'answered';
      readonly now: Micros;
      readonly dated: number;
      readonly undated: number;
      readonly live: Micros | null;
    }
  /** The pages were read to their end, while no stream is open. */
  | { readonly kind: 'pages_read' }
  /** A page shows that the labeler keeps only the newest row of a label, or that it keeps several rows. */
  | { readonly kind: 'row_keeping_seen'; readonly replaces: boolean }
  /** Committed rows include new rows of the source. */
  | { readonly kind: 'new_rows_stored'; readonly now: Micros }
  /** A labeler that had left the enrolment is enrolled again. */
  | { readonly kind: 'returned'; readonly now: Micros }
  /** The operator no longer denies the labeler, whose denial was recorded as a gap. */
  | { readonly kind: 'allowed'; readonly now: Micros }
  | { readonly kind: 'moved'; readonly now: Micros }
  /** The document names another endpoint. All labels of that endpoint may belong to another labeler. */
  | { readonly kind: 'endpoint_changed' }
  | { readonly kind: 'restarted'; readonly now: Micros }
  /** An upstream confirmed the clock after a step. Times after `now` come from a clock that was ahead. */
  | { readonly kind: 'clock_corrected'; readonly now: Micros }
  /** All labels until `through` are stored or recorded as a gap. */
  | { readonly kind: 'completed'; readonly through: Micros }
  /**
   * This instrument replaces another one, which had stored all labels or recorded a gap until `completeThrough`, and
   * had accepted a page at `lastAnswered`.
   */
  | { readonly kind: 'taken_over'; readonly completeThrough: Micros | null; readonly lastAnswered: Micros | null }
  /** The first page of a reading arrived; `before` is the unread part when that reading began. */
  | { readonly kind: 'reading_began'; readonly before: Unread }
  /**
   * The source was read to the end of the labels that it had at `through`. Labels that were authored before `reached`
   * were too old to be accepted.
   */
  | {
      readonly kind: 'caught_up';
      readonly now: Micros;
      readonly through: Micros;
      readonly reached: Micros;
      readonly before: Unread;
    }
  /** A stream is read live, and polls do not fill in the labels from before `opened`. */
  | { readonly kind: 'not_filled_in'; readonly since: Micros; readonly opened: Micros }
  /** The stream itself replays the labels authored since `since`. */
  | { readonly kind: 'replay_started'; readonly since: Micros }
  /** The labels until `through` cannot be filled in; later labels arrive live. */
  | { readonly kind: 'fill_in_abandoned'; readonly through: Micros }
  /**
   * A message of the stream was not understood, so its labels are missing until pages close this hole. `before` is the
   * last frame of the same batch that was understood before the message, or null if there is none.
   */
  | { readonly kind: 'hole_found'; readonly now: Micros; readonly epoch: Micros; readonly before: LastFrame | null }
  /** Pages that were requested later returned every row of the holes until `through`. */
  | { readonly kind: 'holes_closed'; readonly through: Micros }
  /** The pages cannot be read, so the holes stay. */
  | { readonly kind: 'holes_left' }
  /**
   * The last row that was read, or its cursor, no longer exists. With `live`, later labels arrive on the open stream.
   */
  | { readonly kind: 'reset'; readonly now: Micros; readonly epoch: Micros; readonly live: boolean }
  /** The source exceeds its rates, and has not been read for the delay limit or a multiple of it. */
  | { readonly kind: 'throttled'; readonly now: Micros; readonly epoch: Micros }
  /** The source is paused because a daily share is used up or the disk is nearly full. */
  | { readonly kind: 'share_used_up'; readonly now: Micros; readonly epoch: Micros }
  /** The source begins to wait for a reading slot, waits for one, or has waited for one. */
  | { readonly kind: 'displaced'; readonly now: Micros }
  /** The labeler left the enrolment, or its document names no endpoint. */
  | { readonly kind: 'left'; readonly now: Micros }
  | ProgressEvent;

/** Events that only change the progress of reading. */
type ProgressEvent =
  /** A connection to the stream is about to be opened. */
  | { readonly kind: 'stream_opening' }
  | { readonly kind: 'stream_opened' }
  /**
   * The labels from before the connection are no longer filled in. `joined` is true if polls have read all labels
   * before the first live frame of the connection.
   */
  | { readonly kind: 'filled_in'; readonly joined: boolean; readonly opened: Micros }
  /** The connection repeated the last frame, or will not repeat it. */
  | { readonly kind: 'tail_settled' }
  /** The next connection to the stream begins at this cursor, or resumes after the last frame if the cursor is null. */
  | { readonly kind: 'replay_found'; readonly cursor: number | null }
  /** Consecutive frames arrived. */
  | { readonly kind: 'frames_seen'; readonly frames: readonly LastFrame[] }
  /** Rows and the position after them are durable. */
  | { readonly kind: 'committed'; readonly move: PositionMove; readonly position: ReadPosition }
  /**
   * A page is stored. `digits` contains the first digits of the fingerprints of its rows. `unplaced` contains the whole
   * fingerprints if the page had no usable cursor, and is empty otherwise; `newest` then marks the newest of these rows.
   */
  | {
      readonly kind: 'page_stored';
      readonly digits: ReadonlySet<number>;
      readonly unplaced: ReadonlySet<string>;
      readonly newest: UnplacedRow | null;
    }
  /** The pages no longer show the newest row without a usable cursor. */
  | { readonly kind: 'newest_missed'; readonly newest: UnplacedRow }
  /** This endpoint has the last row that was read at the former endpoint, or a gap is recorded. */
  | { readonly kind: 'former_checked' }
  /** A page showed the last row that was read, or its replacement. */
  | { readonly kind: 'tail_found' }
  /** A page did not show the last row that was read. */
  | { readonly kind: 'tail_missed'; readonly now: Micros }
  /** All labels before the live frames are stored or recorded as a gap. */
  | { readonly kind: 'joined' }
  /** The stream does not continue after its last frame, so the frame number is discarded. */
  | { readonly kind: 'number_forgotten' }
  /** The labeler's database was reset, so the position is discarded. */
  | { readonly kind: 'position_forgotten' };

/** Failure of an attempt to read a source by one transport. */
export interface SourceFault {
  /**
   * Kind of the failure. Null if the cause is a limit of this instrument or an abort, because neither is evidence
   * about the source.
   */
  readonly fault: Fault | null;
  /** Reason for the log: a word or a number, never text from the labeler. */
  readonly why: string;
  /** Wait that the labeler requested, in milliseconds, or null if it requested none. */
  readonly retryAfterMs: number | null;
}

/** Classifies the outcome of an HTTP request that did not return JSON. */
export function httpFault(answer: Exclude<JsonAnswer, { kind: 'json' }>): SourceFault {
  switch (answer.kind) {
    case 'status':
      return { ...statusFault(answer.status), retryAfterMs: answer.retryAfterMs };
    case 'bad_url':
    case 'refused_address':
      return fault('refusing', answer.kind);
    case 'not_json':
    case 'too_large':
      return fault('rejecting', answer.kind);
    case 'busy':
    case 'aborted':
      return fault(null, answer.kind);
    case 'dns':
    case 'tls':
    case 'connect':
    case 'timeout':
      return fault('failed', answer.kind);
    default:
      return answer satisfies never;
  }
}

/**
 * Classifies an error that occurred while a websocket was opened. An error other than `ConnectError` counts as
 * `failed`.
 */
export function connectFault(error: unknown): SourceFault {
  if (!(error instanceof ConnectError)) return fault('failed', 'unknown');
  switch (error.kind) {
    case 'handshake_status':
      return statusFault(error.status ?? 0);
    case 'bad_url':
    case 'refused_address':
      return fault('refusing', error.kind);
    case 'busy':
    case 'aborted':
      return fault(null, error.kind);
    default:
      return fault('failed', error.kind);
  }
}

function statusFault(status: number): SourceFault {
  if (status === 401 || status === 403) return fault('refusing', String(status));
  if (status === 429 || status === 408 || (status >= 500 && status !== 501)) return fault('failed', String(status));
  // A redirect counts as a rejection, because redirects are not followed. A status of 200 also counts as a rejection,
  // because a successful websocket handshake has another status.
  return fault('rejecting', String(status));
}

function fault(kind: Fault | null, why: string): SourceFault {
  return { fault: kind, why, retryAfterMs: null };
}

/**
 * Combines the failures of both transports into one. Pages out of order take precedence, because the source was at
 * least read. A transient failure is next, because a later attempt may succeed, and then a refusal before a rejection.
 * `stream` is null if the stream opened and sent nothing.
 *
 * Returns null if there is no evidence about the source: a limit of this instrument prevented the poll, or a limit
 * prevented the stream while the poll was rejected, so that the source may still support streams.
 */
export function worseOf(stream: SourceFault | null, poll: SourceFault): Fault | null {
  if (poll.fault === null || (stream?.fault === null && poll.fault === 'rejecting')) return null;
  for (const fault of ['order_unverified', 'failed', 'refusing', 'rejecting'] as const) {
    if (stream?.fault === fault || poll.fault === fault) return fault;
  }
  return null;
}

/** Problems by the reason of a failure. */
const problemOfReason: ReadonlyMap<string, LabelerProblem> = new Map([
  ['bad_url', 'endpoint_not_public'],
  ['refused_address', 'endpoint_not_public'],
  ['not_json', 'not_a_label_service'],
  ['too_large', 'not_a_label_service'],
  ['malformed frames', 'not_a_label_service'],
  ['no order', 'order_unverified'],
  ['dns', 'dns_failed'],
  ['tls', 'tls_failed'],
  ['connect', 'connection_failed'],
  ['handshake', 'connection_failed'],
  ['timeout', 'timed_out'],
  ['408', 'timed_out'],
  ['401', 'authentication_required'],
  ['403', 'authentication_required'],
  ['429', 'rate_limited'],
]);

/**
 * Returns the problem that the failures of both transports show. If both failed in the same way, the failure of the
 * pages determines the problem. Returns `unknown` for a reason that neither the table nor an HTTP status explains.
 */
export function problemOf(stream: SourceFault | null, poll: SourceFault): LabelerProblem {
  const worse = worseOf(stream, poll);
  const shown = poll.fault === worse || stream === null ? poll : stream;
  const known = problemOfReason.get(shown.why);
  if (known !== undefined) return known;
  if (/^\d{3}$/.test(shown.why)) return shown.fault === 'failed' ? 'server_error' : 'not_a_label_service';
  return 'unknown';
}

/**
 * Resume position at one endpoint, with marks of the labels at that position. The marks detect a reset of the labeler's
 * database.
 */
export interface ReadPosition {
  /** Last sequence number of the stream, or null if no number is known. */
  readonly seq: number | null;
  /** Mark of the last label of the frame with that sequence number (`pages.ts`); null if the frame had no label. */
  readonly seqTail: string | null;
  /** Last decimal cursor of `queryLabels`, or null if there was none. */
  readonly cursor: number | null;
  /** Mark of the last label before that cursor. */
  readonly cursorTail: string | null;
}

/** Position of a source that was never read. */
export const noPosition: ReadPosition = { seq: null, seqTail: null, cursor: null, cursorTail: null };

/** A row that was read, by its number and mark. */
export interface MarkedRow {
  readonly number: number;
  readonly mark: string;
}

/** Formats a position for the store. */
export function writePosition({ seq, seqTail, cursor, cursorTail }: ReadPosition): string {
  return JSON.stringify([seq, seqTail, cursor, cursorTail]);
}

/**
 * Parses a stored position; returns null for a position of another version, so that the source is read from the
 * start.
 */
export function readPosition(text: string): ReadPosition | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(value) || value.length !== 4) return null;
  const [seq, seqTail, cursor, cursorTail] = value as unknown[];
  if (!isNumber(seq) || !isText(seqTail) || !isNumber(cursor) || !isText(cursorTail)) return null;
  return { seq, seqTail, cursor, cursorTail };
}

function isNumber(value: unknown): value is number | null {
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
