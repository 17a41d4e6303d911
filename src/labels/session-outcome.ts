import type { SourceFault } from './faults.ts';

/** How a connection to a stream ended. */
export type SessionOutcome =
  /** It was read, and can be resumed. `progress`: something new came of it; `poll`: how polls beside it failed, and nothing came of it at all. */
  | { readonly kind: 'ended'; readonly progress: boolean; readonly poll?: SourceFault | null }
  /** Nothing of use came of it. */
  | ({ readonly kind: 'fault' } & SourceFault)
  /** The labeler began anew: read it as one that was never read. */
  | { readonly kind: 'reset' };
