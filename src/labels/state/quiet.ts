import type { ReadProgress } from './read-progress.ts';
import type { ReadingState } from './reading-state.ts';

/** Returns true if nothing of an earlier connection is still to come: silence then is confirmed at leisure. */
export function isSettled({ stream }: ReadProgress, { whole, outageSince }: ReadingState): boolean {
  const isReplaying = stream.resumed && stream.liveFrom !== null && !whole;
  return stream.expected === null && !isReplaying && !(stream.resumed && outageSince !== null);
}

/** The next act of a reader whose stream has been quiet. */
export type QuietAct =
  /** Pages are read to their end. */
  | 'ask_pages'
  /** It was asked for its last frame again, and nothing came: everything is read again. */
  | 'start_over'
  /** The stream replayed everything that it had. */
  | 'catch_up'
  /** Nothing was ever given: there is no tail to look at. */
  | 'stay'
  /** Connecting again asks for the last frame again. */
  | 'reconnect';

/** Decides by the state what the silence of a stream calls for; `pages`: the labeler has usable ones. */
export function afterQuiet({ stream, position }: ReadProgress, { whole }: ReadingState, pages: boolean): QuietAct {
  if (pages) return 'ask_pages';
  if (stream.expected !== null) return 'start_over';
  if (stream.resumed && !whole) return 'catch_up';
  return position.seq === null ? 'stay' : 'reconnect';
}
