import { labelBytes } from '../../store/label.ts';
import {
  maxBatchBytes,
  maxBatchRows,
  type NewObservation,
  type PositionChange,
  type Refusal,
} from '../../store/port.ts';
import type { RefusedRowsChange } from '../../store/refused-rows.ts';

/** One page of one source: its accepted and refused labels, and the resume position after it. */
export interface AcceptedPage {
  /** DID of the labeler that was read. */
  readonly source: string;
  readonly observations: readonly NewObservation[];
  readonly refusals: readonly Refusal[];
  readonly positions: readonly PositionChange[];
  /** Changes to the remembered refused rows; absent if there are no changes. */
  readonly refusedRows?: readonly RefusedRowsChange[];
  /** Value of `clockGeneration` when the labels were judged. */
  readonly clockGeneration: number;
}

/**
 * Splits a page into parts that fit a batch. Only the last part has the positions, refusals and refused rows: after a
 * crash between two parts, all parts are read again.
 */
export function split(page: AcceptedPage): AcceptedPage[] {
  const parts: NewObservation[][] = [[]];
  let bytes = 0;
  for (const observation of page.observations) {
    const size = labelBytes(observation.label);
    const part = parts.at(-1) ?? [];
    if (part.length >= maxBatchRows || (part.length > 0 && bytes + size > maxBatchBytes / 2)) {
      parts.push([observation]);
      bytes = size;
    } else {
      part.push(observation);
      bytes += size;
    }
  }
  return parts.map((observations, i) => {
    const last = i === parts.length - 1;
    return {
      source: page.source,
      clockGeneration: page.clockGeneration,
      observations,
      refusals: last ? page.refusals : [],
      positions: last ? page.positions : [],
      refusedRows: last ? (page.refusedRows ?? []) : [],
    };
  });
}
