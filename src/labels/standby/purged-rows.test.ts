import { expect, test } from 'vitest';
import type { Purge } from '../../store/removals.ts';
import { micros, second } from '../../store/time.ts';
import { withoutPurged } from './purged-rows.ts';
import type { KeptRow } from './row-buffer.ts';

function row(src: string, at: number): KeptRow {
  const label = { src, uri: 'did:plc:x', val: 'spam', cts: '2026-11-22T00:00:00.000Z' };
  return { observation: { label, signature: 'verified' }, acceptedAt: micros(at), emittedAfter: micros(0) };
}

function purge(source: string, requestedAt: number): Purge {
  return { source, requestedAt: micros(requestedAt), completedAt: null, rows: 0, daysLeft: 1 };
}

test('buffered rows are omitted if a purge of their labeler would have removed them', () => {
  const [before, noticing] = [row('did:plc:a', 1), row('did:plc:a', 100 + 9 * second)];
  const [other, afterwards] = [row('did:plc:b', 1), row('did:plc:a', 100 + 11 * second)];
  const rows = [before, other, noticing, afterwards];
  expect(withoutPurged(rows, [purge('did:plc:a', 100)])).toEqual([other, afterwards]);
  expect(withoutPurged(rows, [])).toEqual(rows);
});
