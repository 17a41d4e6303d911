import type { Micros } from '../../../contract/timestamp.ts';
import type { Batch, NewObservation, Position, RefusalReason } from '../../port.ts';
import type { RefusedRows, RefusedRowsChange } from '../../refused-rows.ts';

/** One commit of a day. */
export interface Commit {
  readonly rows: readonly { readonly observation: NewObservation; readonly at: number; readonly identity: Buffer }[];
  readonly refusals: ReadonlyMap<string, { source: string; reason: RefusalReason; count: number }>;
  readonly positions: Batch['positions'];
  readonly refusedRows: readonly RefusedRowsChange[];
  readonly at: Micros;
  /** The first stamp, also if there are no rows: refusals count in its hour. */
  readonly stamp: Micros;
  readonly bytes: number;
}

/** Data that a new day's file takes over from the previous one. */
export interface Carried {
  readonly generation: string;
  readonly positions: readonly Position[];
  readonly refusedRows: readonly RefusedRows[];
  readonly last: Micros | null;
  readonly through: Micros | null;
}
