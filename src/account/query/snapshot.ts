import type { Micros } from '../../contract/timestamp.ts';
import type { Interval } from '../../store/time.ts';
import type { AccountFilters } from './row.ts';

/**
 * The snapshot of an export, fixed at its creation. A snapshot contains all data that the pages and the manifest need.
 * Snapshots exist only in cursors, so that any process can continue an export without other state.
 */
export interface Snapshot extends Interval {
  /** DID of the account. */
  readonly account: string;
  /** Start of the requested interval, before clipping. */
  readonly askedStart: Micros;
  readonly clipped: boolean;
  readonly filters: AccountFilters;
  /** Mark of the store's generation when the export was created. */
  readonly generation: GenerationMark;
  /** Rows accepted at or after this instant are excluded. */
  readonly frontier: Micros;
  /** Number of the account's rows in the interval, regardless of the filters. */
  readonly countBound: number;
  /** Maximum rows of a page. */
  readonly pageRows: number;
  /** Creation time, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Expiry, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Sixteen hex digits that identify a generation of the store. */
export type GenerationMark = string & { readonly __mark: 'generation' };

/** Progress of reading an export. */
export interface Progress {
  /** The last observation that was read, or null before the first. */
  readonly position: Micros | null;
  /** Number of returned rows. */
  readonly count: number;
  /** Digest of the manifest and these rows: 32 bytes. */
  readonly digest: Buffer;
}

/** Content of a cursor: an export at its next page, or a snapshot for a download. */
export type Cursor =
  | { readonly kind: 'export'; readonly snapshot: Snapshot; readonly progress: Progress }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot };
