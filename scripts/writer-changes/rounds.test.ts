import { expect, test } from 'vitest';
import type { WriterChange } from '../../harness/kills/writer-changes.ts';
import { nextRound, type RoundResult, resultsIn, summary } from './rounds.ts';

function result(how: WriterChange, changeMs: readonly number[], problems: readonly string[] = []): RoundResult {
  return { store: 'postgres', how, changeMs, load: 1.25, problems };
}

test('rounds alternate between the kinds of change, each with a new seed, until every change has been made', () => {
  const results: RoundResult[] = [];
  const rounds: string[] = [];
  for (let next = nextRound(results, 15); next !== null; next = nextRound(results, 15)) {
    rounds.push(`${next.how} ${next.changes} ${next.seed}`);
    results.push(result(next.how, new Array<number>(next.changes).fill(900)));
  }
  expect(rounds).toEqual(['hand_over 10 1000', 'kill 10 2000', 'suspend 3 3000', 'hand_over 5 1010', 'kill 5 2010']);
});

test('a run continues after the rounds in its state file, but ignores rounds with another kind of store', () => {
  const lines = [result('hand_over', [800]), { ...result('kill', [700]), store: 'sqlite' }];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  expect(resultsIn(text, 'postgres')).toEqual([result('hand_over', [800])]);
  expect(nextRound(resultsIn(text, 'postgres'), 1)).toEqual({ how: 'kill', changes: 1, seed: 2_000 });
  expect(nextRound(resultsIn('', 'postgres'), 1)).toMatchObject({ how: 'hand_over' });
});

test('the summary states the durations, the load, and the rounds with a problem', () => {
  const results = [result('hand_over', [900, 5_100]), result('hand_over', [800]), result('kill', [700], ['lost'])];
  expect(summary(results, 5)).toEqual([
    'hand_over: 3 of 5 changes, half within 900 ms, at most 5100 ms, 1 longer than 5 s, at a load of at most 1.3, correct',
    'kill: 1 of 5 changes, half within 700 ms, at most 700 ms, 0 longer than 5 s, at a load of at most 1.3, 1 rounds WRONG',
    'suspend: 0 of 1 changes',
  ]);
});
