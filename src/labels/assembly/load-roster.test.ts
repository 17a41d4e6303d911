import { expect, test } from 'vitest';
import { micros } from '../../store/time.ts';
import { loadRoster } from './load-roster.ts';

test('the repeats of the last run are loaded after the roster, because the roster contains the priority of each source', async () => {
  const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
  const calls: string[] = [];
  const position = { source: did, endpoint: 'https://mod.example', value: '[null,null,7,null]', acceptedAt: micros(5) };
  const repeats = { ...position, endpoint: 'repeats', value: 'hmfi8.2s' };
  await loadRoster(
    { refusedRows: async () => [], positions: async () => [repeats, position], roster: async () => [] },
    {
      roster: { load: (_, answered) => calls.push(`roster ${answered.get(did)}`), labeler: () => undefined },
      runner: { keep: (_, endpoint) => calls.push(`position ${endpoint}`) },
      reachability: { load: () => undefined },
    },
    {
      refused: { load: () => undefined },
      filledIn: { load: () => false },
      repeats: { load: (source, name, text) => calls.push(`${name} ${source} ${text}`) > 0 },
    },
  );
  expect(calls).toEqual(['position https://mod.example', 'roster 5', `repeats ${did} hmfi8.2s`]);
});
