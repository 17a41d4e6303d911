import { expect, test } from 'vitest';
import { killLabels } from '../../harness/kills/label-kills.ts';

test('the instrument loses no accepted row, counts no row twice and records all missed time as a gap despite kills and restarts', async () => {
  const report = await killLabels({ kills: 50, seed: 4 });
  expect(report.problems).toEqual([]);
  expect(report.stored).toBe(report.emitted);
  expect(report.refused).toBeGreaterThan(20);
  expect(report.moved).toBeGreaterThan(20);
  expect(report.early).toBeGreaterThan(3);
});
