import type { Micros } from '../../../contract/timestamp.ts';
import type { Batch, NewObservation, Position, RefusalReason } from '../../port.ts';
import type { RefusedRows, RefusedRowsChange } from '../../refused-rows.ts';

/** Content of one commit to a day's file. */
export interface Commit {
  readonly rows: readonly { readonly observation: NewObservation; readonly at: number; readonly identity: Buffer }[];
  readonly refusals: ReadonlyMap<string, { source: string; reason: RefusalReason; count: number }>;
  readonly positions: Batch['positions'];
  readonly refusedRows: readonly RefusedRowsChange[];
  readonly at: Micros;
  /** First stamp of the commit. Set even without rows, because refusals are counted in the hour of this stamp. */
  readonly stamp: Micros;
  readonly bytes: number;
}

/** Data that a new day's file takes over from the previous day. */
export interface Carried {
  readonly generation: string;
  readonly positions: readonly Position[];
  readonly refusedRows: readonly RefusedRows[];
  readonly last: Micros | null;
  readonly through: Micros | null;
}
