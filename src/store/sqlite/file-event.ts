/** A file in the directory of days that the store removed, moved aside or wrote again, or left because nothing proves that it may go. */
export interface FileEvent {
  readonly name: string;
  /** `YYYY-MM-DD`; null for a file of no day that the store knows. */
  readonly day: string | null;
  readonly action: 'removed' | 'moved_aside' | 'rewritten' | 'left';
  readonly reason: string;
}

/** Called for each such file. */
export type OnFile = (event: FileEvent) => void;

/** Reports nothing. */
export const silent: OnFile = () => undefined;
