import { StoreError } from '../errors.ts';
import { maxRosterTextLength, type RosterRow } from '../roster.ts';
import { bounded } from './bounded.ts';

/** Throws `invalid_query` if a text in a roster row is longer than `maxRosterTextLength`. */
export function assertRosterBounds({ endpoint, handle, provenance, resolutionStatus, state }: RosterRow): void {
  const texts = { endpoint: endpoint ?? '', handle: handle?.name ?? '', resolutionStatus, state };
  for (const [name, text] of Object.entries(texts)) bounded(text, maxRosterTextLength, name);
  const length = provenance.reduce((sum, one) => sum + one.length, 0);
  if (length > maxRosterTextLength) {
    throw new StoreError('invalid_query', `provenance is longer than ${maxRosterTextLength} characters`);
  }
}
