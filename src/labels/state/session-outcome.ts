import type { SourceFault } from './faults.ts';

/** Reason why a stream connection ended. */
export type SessionOutcome =
  /**
   * The connection was read, and the stream can be resumed. `progress` is true if it delivered new labels. `poll` is
   * the failure of concurrent polls if the connection delivered no label.
   */
  | { readonly kind: 'ended'; readonly progress: boolean; readonly poll?: SourceFault | null }
  /** The connection failed. */
  | ({ readonly kind: 'fault' } & SourceFault)
  /** The labeler's database was reset, and must be read like that of a new source. */
  | { readonly kind: 'reset' };
