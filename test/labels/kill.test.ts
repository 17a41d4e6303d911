import { expect, test } from 'vitest';
import { killLabels } from '../../harness/kills/label-kills.ts';

test('after kills at any moment and restarts, no accepted row is lost or counted twice, and all missed time is a gap', async () => {
  const report = await killLabels({ kills: 50, seed: 4 });
  expect(report.problems).toEqual([]);
  expect(report.stored).toBe(report.emitted);
  expect(report.refused).toBeGreaterThan(20);
  expect(report.moved).toBeGreaterThan(20);
  expect(report.early).toBeGreaterThan(3);
}, 900_000);
