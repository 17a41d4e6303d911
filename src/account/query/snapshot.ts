import type { Micros } from '../../contract/timestamp.ts';
import type { Interval } from '../../store/time.ts';
import type { AccountFilters } from './row.ts';

/**
 * Snapshot of an account, which fixes the content of an export when it is created. It contains all parameters that the
 * pages and the manifest depend on. Snapshots are stored only in cursors, so that any process can continue an export
 * without further state.
 */
export interface Snapshot extends Interval {
  /** DID of the account. */
  readonly account: string;
  /** Start of the requested interval before it was clipped to the window. */
  readonly askedStart: Micros;
  readonly clipped: boolean;
  readonly filters: AccountFilters;
  /** Mark of the store's generation and revision when the export was created. */
  readonly generation: GenerationMark;
  /** Acceptance time from which rows are excluded. */
  readonly frontier: Micros;
  /** Number of the account's rows in the interval, before the filters are applied. */
  readonly countBound: number;
  /** Maximum number of rows on a page. */
  readonly pageRows: number;
  /** Creation time, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Expiry time, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Sixteen hex digits that identify a generation and revision of the store; see `markOf`. */
export type GenerationMark = string & { readonly __mark: 'generation' };

/** Progress of an export. */
export interface Progress {
  /** Stamp of the last row that was read, or null before the first row. */
  readonly position: Micros | null;
  /** Number of rows returned so far. */
  readonly count: number;
  /** Digest of the manifest and the rows returned so far: 32 bytes. */
  readonly digest: Buffer;
}

/** Content of a cursor: an export at its next page, or the snapshot of a download. */
export type Cursor =
  | { readonly kind: 'export'; readonly snapshot: Snapshot; readonly progress: Progress }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot };
