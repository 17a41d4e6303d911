import { expect, test } from 'vitest';
import { changeWriters, type WriterChange } from '../../harness/kills/writer-changes.ts';

test('a standby replaces a writer that hands over, stops, dies or hangs: no label is lost or stored twice, and no time is a gap', async () => {
  const round: readonly WriterChange[] = ['hand_over', 'kill', 'terminate', 'hand_over', 'kill'];
  const changes: readonly WriterChange[] = [...round, ...round, 'suspend', ...round, ...round, 'suspend'];
  const report = await changeWriters({ changes, seed: 9, rate: 20 });
  expect(report.problems).toEqual([]);
  expect(report.stored).toBe(report.emitted);
  expect(report.refused).toBeGreaterThan(50);
  expect(report.saved).toBeGreaterThan(10);
}, 900_000);
