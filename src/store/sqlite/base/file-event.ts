/**
 * A file in the directory of days that the store removed, moved, rewrote, or left in place because it is not certain
 * that it can be removed.
 */
export interface FileEvent {
  readonly name: string;
  /** `YYYY-MM-DD`, or null if the file's name contains no day. */
  readonly day: string | null;
  readonly action: 'removed' | 'moved_aside' | 'rewritten' | 'left';
  readonly reason: string;
}

/** Handler that is called for each file event. */
export type OnFile = (event: FileEvent) => void;

/** Handler that ignores file events. */
export const silent: OnFile = () => undefined;
