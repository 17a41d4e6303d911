import { describe, expect, test } from 'vitest';
import { changeWriters, type WriterChange } from '../../harness/kills/writer-changes.ts';
import { hasPostgres, startPostgres } from '../../harness/postgres/server.ts';

const round: readonly WriterChange[] = ['hand_over', 'kill', 'terminate', 'hand_over', 'kill'];

test('a standby replaces a writer that hands over, stops, dies or hangs, without a lost or repeated label and without a gap', async () => {
  const changes: readonly WriterChange[] = [...round, ...round, 'suspend', ...round, ...round, 'suspend'];
  const report = await changeWriters({ changes, seed: 9, rate: 20 });
  expect(report.problems).toEqual([]);
  expect(report.stored).toBe(report.emitted);
  expect(report.refused).toBeGreaterThan(50);
  expect(report.saved).toBeGreaterThan(10);
});

describe.skipIf(!hasPostgres())('a standby of a store in PostgreSQL', () => {
  test('replaces a writer that hands over, stops, dies or hangs, without a lost or repeated label and without a gap', async () => {
    const server = await startPostgres();
    try {
      const changes: readonly WriterChange[] = [...round, 'suspend', 'kill'];
      const report = await changeWriters({ changes, seed: 10, rate: 20, url: server.url('changes') });
      expect(report.problems).toEqual([]);
      expect(report.stored).toBe(report.emitted);
      expect(report.saved).toBeGreaterThan(10);
    } finally {
      await server.stop();
    }
  });
});
