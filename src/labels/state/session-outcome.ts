import type { SourceFault } from './faults.ts';

/** Outcome of an attempt to read a source by its stream. */
export type SessionOutcome =
  /**
   * The connection was read, and the stream can be resumed. `progress` is true if the connection delivered new labels.
   * `poll` is the failure of concurrent polls if the connection delivered no label.
   */
  | { readonly kind: 'ended'; readonly progress: boolean; readonly poll?: SourceFault | null }
  /** The connection failed, or a limit of this instrument prevented it. */
  | ({ readonly kind: 'fault' } & SourceFault)
  /** The labeler's database was reset, so the source must be read like a new one. */
  | { readonly kind: 'reset' };
