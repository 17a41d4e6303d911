import type { SourceFault } from './faults.ts';

/** Reason why a stream connection ended. */
export type SessionOutcome =
  /** It was read, and can be resumed. `progress`: it delivered new labels; `poll`: the failure of concurrent polls, if it delivered nothing. */
  | { readonly kind: 'ended'; readonly progress: boolean; readonly poll?: SourceFault | null }
  /** It failed. */
  | ({ readonly kind: 'fault' } & SourceFault)
  /** The labeler's database was reset: read it like a new one. */
  | { readonly kind: 'reset' };
