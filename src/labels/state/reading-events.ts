import type { Micros } from '../../contract/timestamp.ts';
import type { ReadPosition } from '../label/position.ts';

/** Failure of reading a source. */
export type Fault = 'refusing' | 'rejecting' | 'failed' | 'order_unverified';

/** Unread part of a source when its reading begins. */
export interface Unread {
  /** Time since which it was not known to be complete. */
  readonly since: Micros;
  /** Labels authored before this time are refused as late or older than our epoch. */
  readonly target: Micros;
}

/** A frame of a stream, as a position stores it. */
export interface LastFrame {
  readonly seq: number;
  /** Mark of its last label; null if it had no label. */
  readonly tail: string | null;
}

/** Move of the resume position once rows are durable. */
export type PositionMove =
  | { readonly kind: 'stay' }
  /** After the newest of some frames; null if all their numbers decrease. */
  | { readonly kind: 'frames'; readonly last: LastFrame | null }
  /** After a page, with the mark of its last row. */
  | { readonly kind: 'page'; readonly cursor: number; readonly tail: string }
  /** No move, because the page had no usable cursor. A first read begins at `start`. */
  | { readonly kind: 'unplaced'; readonly start: number }
  /** The cursor to the newest frame, because the pages show frame `seq` with its number. */
  | { readonly kind: 'align'; readonly seq: number };

/** Events that change the reading of a source. They contain all times, because a step reads no clock. */
export type ReadingEvent =
  /** An attempt to read it begins. */
  | { readonly kind: 'asked'; readonly now: Micros }
  /** Our own limits prevented the attempt. */
  | { readonly kind: 'not_asked' }
  /** An attempt failed. */
  | { readonly kind: 'failed'; readonly now: Micros; readonly fault: Fault }
  /** A page or frames were admitted, with the number of labels with and without a usable date; `live`: by stream. */
  | {
      readonly kind: 'answered';
      readonly now: Micros;
      readonly dated: number;
      readonly undated: number;
      readonly live: boolean;
    }
  /** Committed rows include new ones. */
  | { readonly kind: 'new_rows_stored'; readonly now: Micros }
  /** A labeler that had left the enrolment is enrolled again. */
  | { readonly kind: 'returned'; readonly now: Micros }
  | { readonly kind: 'moved'; readonly now: Micros }
  | { readonly kind: 'restarted'; readonly now: Micros }
  /** All labels until then are stored, or recorded as a gap. */
  | { readonly kind: 'completed'; readonly through: Micros }
  /** The first page of a reading arrived; `before` is the unread part when that reading began. */
  | { readonly kind: 'reading_began'; readonly before: Unread }
  /** The source was read to its end. Labels authored before `reached` were too old to be accepted. */
  | { readonly kind: 'caught_up'; readonly now: Micros; readonly reached: Micros; readonly before: Unread }
  /** A stream is read live, and pages do not fill in the time before `opened`. */
  | { readonly kind: 'not_filled_in'; readonly since: Micros; readonly opened: Micros }
  /** The stream itself replays labels since `since`. */
  | { readonly kind: 'replay_started'; readonly since: Micros }
  /** The time until `through` cannot be filled in; later labels arrive live. */
  | { readonly kind: 'fill_in_abandoned'; readonly through: Micros }
  /** The row that was read last is gone, or the cursor is. `live`: later labels arrive live on the open stream. */
  | { readonly kind: 'reset'; readonly now: Micros; readonly epoch: Micros; readonly live: boolean }
  /** It exceeds its rates, and has not been read for the delay limit or a multiple of it. */
  | { readonly kind: 'throttled'; readonly now: Micros; readonly epoch: Micros }
  /** It used up its share of the day. */
  | { readonly kind: 'share_used_up'; readonly now: Micros; readonly epoch: Micros }
  /** It lost its place to a privileged source. */
  | { readonly kind: 'displaced'; readonly now: Micros }
  /** It left the enrolment, or its document names no endpoint. */
  | { readonly kind: 'left'; readonly now: Micros }
  | ProgressEvent;

/** Events that only change the progress of reading. */
type ProgressEvent =
  /** A connection to the stream is about to be opened. */
  | { readonly kind: 'stream_opening' }
  | { readonly kind: 'stream_opened' }
  /** Filling in the time before the connection ended; `joined`: pages reached its first live frame. */
  | { readonly kind: 'filled_in'; readonly joined: boolean; readonly opened: Micros }
  /** The connection repeated the last frame, or is known not to. */
  | { readonly kind: 'tail_settled' }
  /** The next connection begins at this cursor; null to resume after the last one. */
  | { readonly kind: 'replay_found'; readonly cursor: number | null }
  /** Consecutive frames arrived. */
  | { readonly kind: 'frames_seen'; readonly frames: readonly LastFrame[] }
  /** Rows and the position after them are durable. */
  | { readonly kind: 'committed'; readonly move: PositionMove; readonly position: ReadPosition }
  /** A page is stored: the first digits of its fingerprints, and the fingerprints if it had no usable cursor. */
  | { readonly kind: 'page_stored'; readonly digits: ReadonlySet<number>; readonly unplaced: ReadonlySet<string> }
  /** A page showed the last row, or its replacement. */
  | { readonly kind: 'tail_found' }
  /** A page did not show the last row. */
  | { readonly kind: 'tail_missed'; readonly now: Micros }
  /** Everything before the live frames is stored, or a gap. */
  | { readonly kind: 'joined' }
  /** The stream does not continue after its last frame. */
  | { readonly kind: 'number_forgotten' }
  /** The labeler's database was reset. */
  | { readonly kind: 'position_forgotten' };
