import { labelBytes } from '../../store/label.ts';
import { type Batch, maxBatchBytes, maxBatchRows, type NewObservation } from '../../store/port.ts';

/** One page of one source: its accepted and refused labels, and the resume position after it. */
export interface AcceptedPage extends Omit<Batch, 'at'> {
  /** DID of the labeler that was read. */
  readonly source: string;
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
