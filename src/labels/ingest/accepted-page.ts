import type { Micros } from '../../contract/timestamp.ts';
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

/** Returns the batch that commits pages together. */
export function batchOf(at: Micros, pages: readonly AcceptedPage[]): Batch {
  return {
    at,
    observations: pages.flatMap(({ observations }) => observations),
    refusals: pages.flatMap(({ refusals }) => refusals),
    positions: pages.flatMap(({ positions }) => positions),
    refusedRows: pages.flatMap(({ refusedRows }) => refusedRows ?? []),
  };
}

/** Returns the cost of a page in a batch, in bytes. */
export function pageBytes({ observations, positions, refusedRows = [] }: AcceptedPage): number {
  const labels = observations.reduce((sum, { label }) => sum + labelBytes(label), 0);
  const texts = [
    ...positions.map(({ source, endpoint, value }) => `${value}${endpoint}${source}`),
    ...refusedRows.map(({ source, rows }) => `${rows}${source}`),
  ];
  return labels + texts.reduce((sum, text) => sum + 3 * text.length, 0);
}
