import type { AcceptedPage } from '../../src/labels/ingest/ports.ts';

/** A page of one source without labels and without a position. */
export const emptyPage: AcceptedPage = {
  source: 'did:web:a.test',
  observations: [],
  refusals: [],
  positions: [],
  clockGeneration: 0,
};
