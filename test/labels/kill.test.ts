import { expect, test } from 'vitest';
import { killLabels } from '../../harness/kills/label-kills.ts';

test('killed at any moment and started again, it loses no accepted row, stores and counts none twice, and hides no time', async () => {
  const report = await killLabels({ kills: 50, seed: 4 });
  expect(report.problems).toEqual([]);
  expect(report.stored).toBe(report.emitted);
  expect(report.refused).toBeGreaterThan(20);
  expect(report.moved).toBeGreaterThan(20);
  expect(report.early).toBeGreaterThan(3);
}, 900_000);
