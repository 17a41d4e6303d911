import type { ReadProgress } from './read-progress.ts';
import type { ReadingState } from './reading-state.ts';

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
