import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { repeated, sqlStates } from './sqlstates.ts';

const guide = readFileSync(new URL('../../../../docs/operations/postgres.md', import.meta.url), 'utf8');
const connecting = {
  repeat: 'repeated',
  round: 'next server, then all again',
  next: 'next server',
  report: 'reported',
};
const reading = { repeat: 'repeated', once: 'repeated once', report: 'reported' };

it('the documented table of the errors of a server is the table of the program', () => {
  const section = guide.split('\n## Errors of a server\n')[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  const rows = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
  const listed = Object.entries(sqlStates).map(([code, state]) => {
    const connection = state.isKept ? 'kept' : 'closed';
    return [code, state.meaning, connecting[state.connecting], reading[state.reading], state.error, connection];
  });
  expect(rows).toEqual(listed.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
});

it('the table answers every error of a standby, a failover, a pooler or a shutdown', () => {
  const asked = ['40001', '40P01', '55P03', '57P01', '57P02', '57P03', '25006', '53300', '08000', '08006', '57014'];
  expect(asked.filter((code) => !(code in sqlStates || code.slice(0, 2) in sqlStates))).toEqual([]);
});

it('work is repeated a limited number of times, with growing delays, and only if its error allows it', async () => {
  const waited: number[] = [];
  const wait = (ms: number): Promise<void> => Promise.resolve(void waited.push(ms));
  const failing = () => Promise.reject(new Error('refused'));
  await expect(repeated(failing, () => true, wait)).rejects.toThrow('refused');
  expect(waited).toEqual([20, 40, 80, ...Array.from({ length: 12 }, () => 160)]);
  await expect(repeated(failing, () => false, wait)).rejects.toThrow('refused');
  expect(waited).toHaveLength(15);
  expect(
    await repeated(
      () => Promise.resolve(waited.length > 15 || Promise.reject(new Error('early'))),
      () => true,
      wait,
    ),
  ).toBe(true);
  expect(waited).toHaveLength(16);
});
