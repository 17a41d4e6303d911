/**
 * A file in the directory of days that the store removed, moved, rewrote, or left in place because nothing proves that
 * it can be removed.
 */
export interface FileEvent {
  readonly name: string;
  /** `YYYY-MM-DD`; null for a file of no known day. */
  readonly day: string | null;
  readonly action: 'removed' | 'moved_aside' | 'rewritten' | 'left';
  readonly reason: string;
}

/** Called for each such file. */
export type OnFile = (event: FileEvent) => void;

/** Handler that ignores file events. */
export const silent: OnFile = () => undefined;
