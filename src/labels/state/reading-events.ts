import type { Micros } from '../../contract/timestamp.ts';
import type { ReadPosition } from '../label/position.ts';

/** Failure of reading a source. */
export type Fault = 'refusing' | 'rejecting' | 'failed' | 'order_unverified';

/** The unread part of a source when reading it begins. */
export interface Unread {
  /** From when on it was not known to be complete. */
  readonly since: Micros;
  /** Labels authored before this time are refused as late or older than our epoch. */
  readonly target: Micros;
}

/** A frame of a stream as a position keeps it. */
export interface LastFrame {
  readonly seq: number;
  /** Mark of its last label; null where it had none. */
  readonly tail: string | null;
}

/** The part of the resume position that moves once rows are durable. */
export type PositionMove =
  | { readonly kind: 'stay' }
  /** Behind the newest of some frames; null where all their numbers fall. */
  | { readonly kind: 'frames'; readonly last: LastFrame | null }
  /** Behind a page, with the mark of its last row. */
  | { readonly kind: 'page'; readonly cursor: number; readonly tail: string }
  /** Nowhere: the page gave no position. What is read first begins at `start`. */
  | { readonly kind: 'unplaced'; readonly start: number }
  /** The cursor to the newest frame: frame `seq` stands in the pages under its number. */
  | { readonly kind: 'align'; readonly seq: number };

/** Events that change the reading of a source. Instants of foreign origin are computed before: a step reads no clock. */
export type ReadingEvent =
  /** An attempt to read it begins. */
  | { readonly kind: 'asked'; readonly now: Micros }
  /** Our own limits kept us from the attempt that began. */
  | { readonly kind: 'not_asked' }
  /** An attempt failed. */
  | { readonly kind: 'failed'; readonly now: Micros; readonly fault: Fault }
  /** A page or frames were admitted, with so many labels of a usable date and without; `live` by stream. */
  | {
      readonly kind: 'answered';
      readonly now: Micros;
      readonly dated: number;
      readonly undated: number;
      readonly live: boolean;
    }
  /** Rows that were committed include new ones. */
  | { readonly kind: 'new_rows_stored'; readonly now: Micros }
  /** A labeler that had left the enrolment is enrolled again. */
  | { readonly kind: 'returned'; readonly now: Micros }
  | { readonly kind: 'moved'; readonly now: Micros }
  | { readonly kind: 'restarted'; readonly now: Micros }
  /** All that it gave until then is stored, or recorded as a gap. */
  | { readonly kind: 'completed'; readonly through: Micros }
  /** The first page of a reading to the end has come; `before` is from when that reading began. */
  | { readonly kind: 'reading_began'; readonly before: Unread }
  /** Everything that it had was read to its end. Labels from before `reached` were too old to be taken. */
  | { readonly kind: 'caught_up'; readonly now: Micros; readonly reached: Micros; readonly before: Unread }
  /** A stream is read live, and pages do not fill in what lies before `opened`. */
  | { readonly kind: 'not_filled_in'; readonly since: Micros; readonly opened: Micros }
  /** The stream itself replays what lies behind. */
  | { readonly kind: 'replay_started'; readonly since: Micros }
  /** The time before cannot be filled in; later labels arrive live. */
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

/** Events that only move the place at which reading goes on. */
type ProgressEvent =
  /** A connection to the stream is about to be opened. */
  | { readonly kind: 'stream_opening' }
  | { readonly kind: 'stream_opened' }
  /** Filling in what lies before the connection ended; `joined`: pages reached its first live frame. */
  | { readonly kind: 'filled_in'; readonly joined: boolean; readonly opened: Micros }
  /** The frame that was read last showed up, or is known not to. */
  | { readonly kind: 'tail_settled' }
  /** The next connection begins at this cursor; null: where the last one ended. */
  | { readonly kind: 'replay_found'; readonly cursor: number | null }
  /** Frames came, without a hole between them. */
  | { readonly kind: 'frames_seen'; readonly frames: readonly LastFrame[] }
  /** Rows and the position behind them are durable. */
  | { readonly kind: 'committed'; readonly move: PositionMove; readonly position: ReadPosition }
  /** A page is stored: the digits of its rows, and their fingerprints where it gave no position. */
  | { readonly kind: 'page_stored'; readonly digits: ReadonlySet<number>; readonly unplaced: ReadonlySet<string> }
  /** A page showed the row that was read last, or what replaced it. */
  | { readonly kind: 'tail_found' }
  | { readonly kind: 'tail_missed'; readonly now: Micros }
  /** Everything before the live frames is stored, or a gap. */
  | { readonly kind: 'joined' }
  /** The stream goes on elsewhere than behind its last frame. */
  | { readonly kind: 'number_forgotten' }
  /** The labeler's database was reset. */
  | { readonly kind: 'position_forgotten' };
