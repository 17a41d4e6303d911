import { expect, test } from 'vitest';
import { emptyPage as page } from '../../../harness/labels/label-reader.ts';
import { labelBytes } from '../../store/label.ts';
import { maxBatchBytes, maxBatchRows } from '../../store/port.ts';
import { split } from './ports.ts';

test('a page larger than a batch is split, and only the last part has its positions, refusals and refused rows', () => {
  const label = { src: 'did:plc:a', uri: 'did:plc:b', val: 'spam', cts: '' };
  const observations = Array.from({ length: 2 * maxBatchRows + 1 }, () => ({ label, signature: 'unsigned' as const }));
  const positions = [{ source: 'did:plc:a', endpoint: 'e', value: '9' }];
  const refusals = [{ source: 'did:plc:a', reason: 'late' as const, count: 3 }];
  const refusedRows = [{ source: 'did:plc:a', bucket: 3, rows: 'packed' }];
  const parts = split({ ...page, observations, positions, refusals, refusedRows });
  expect(parts.map((part) => [part.observations.length, part.positions, part.refusals, part.refusedRows])).toEqual([
    [maxBatchRows, [], [], []],
    [maxBatchRows, [], [], []],
    [1, positions, refusals, refusedRows],
  ]);
});

test('a page of large labels is split by their bytes', () => {
  const label = { src: 'did:plc:a', uri: `did:web:${'a'.repeat(4_000)}`, val: 'spam', cts: '' };
  const observations = Array.from({ length: maxBatchRows }, () => ({ label, signature: 'unsigned' as const }));
  const parts = split({ ...page, observations });
  const bytes = parts.map((part) => part.observations.reduce((sum, one) => sum + labelBytes(one.label), 0));
  expect(Math.max(...bytes)).toBeLessThanOrEqual(maxBatchBytes / 2);
  expect(parts.reduce((sum, part) => sum + part.observations.length, 0)).toBe(maxBatchRows);
});
