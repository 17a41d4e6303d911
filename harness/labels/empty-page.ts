import type { AcceptedPage } from '../../src/labels/ingest/accepted-page.ts';

/** A page of one source without labels and without a position. */
export const emptyPage: AcceptedPage = {
  source: 'did:web:a.test',
  observations: [],
  refusals: [],
  positions: [],
  clockGeneration: 0,
};
