/**
 * Event about a file in the directory of days: the store removed, moved or rewrote the file, or left it in place
 * because it might still be needed.
 */
export interface FileEvent {
  readonly name: string;
  /** Day in the file's name, `YYYY-MM-DD`, or null if the name contains no day. */
  readonly day: string | null;
  readonly action: 'removed' | 'moved_aside' | 'rewritten' | 'left';
  readonly reason: string;
}

/** Handler that is called for each file event. */
export type OnFile = (event: FileEvent) => void;

/** Handler that ignores file events. */
export const silent: OnFile = () => undefined;
