import type { Micros } from '../contract/timestamp.ts';
import type { Interval } from '../store/time.ts';
import type { AccountFilters } from './row.ts';

/**
 * The snapshot of an export, fixed when it is created: everything that its pages and its manifest need, so that any
 * process can continue it without state. It travels only in cursors.
 */
export interface Snapshot extends Interval {
  /** DID of the account. */
  readonly account: string;
  /** Start of the requested interval, before clipping. */
  readonly askedStart: Micros;
  readonly clipped: boolean;
  readonly filters: AccountFilters;
  /** Tells the store's generation. */
  readonly generation: GenerationMark;
  /** Rows accepted at or after this instant are not in it. */
  readonly frontier: Micros;
  /** The account's rows in it, whatever the filters. */
  readonly countBound: number;
  /** Most rows of a page. */
  readonly pageRows: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970; from then on it is expired. */
  readonly expiresAt: number;
}

/** Sixteen hex digits that stand for a generation of the store. */
export type GenerationMark = string & { readonly __mark: 'generation' };

/** Progress of reading an export. */
export interface Progress {
  /** The last observation that was looked at; null before the first. */
  readonly position: Micros | null;
  /** Rows handed out so far. */
  readonly count: number;
  /** The digest over the manifest and these rows: 32 bytes. */
  readonly digest: Buffer;
}

/** Content of a cursor: an export continues with its next page; a snapshot can be downloaded. */
export type Cursor =
  | { readonly kind: 'export'; readonly snapshot: Snapshot; readonly progress: Progress }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot };
