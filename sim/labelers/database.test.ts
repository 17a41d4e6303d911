import { expect, it } from 'vitest';
import { accountBytes } from '../events/identifiers.ts';
import { Database } from './database.ts';
import { LabelLog } from './label-log.ts';
import { createPopulation } from './profile.ts';

const accounts = Buffer.from(accountBytes(1)).toString('latin1');

function logOf(software: 'ozone' | 'skyware'): LabelLog {
  const [profile] = createPopulation({
    seed: 1,
    labelers: 1,
    labelRate: 10,
    relays: 0,
    population: 'plain',
    shape: () => ({ software }),
  });
  if (!profile) throw new Error('the population has no labeler');
  return new LabelLog({ seed: 1, profile, startUs: 0, accounts });
}

function keyOf(log: LabelLog, n: number): string {
  const { uri, cid, val } = log.label(n).label as Record<string, unknown>;
  return JSON.stringify([uri, cid, val]);
}

it('an account-replacing database contains only the newest label of each subject and value', () => {
  const log = logOf('ozone');
  const newest = new Map<string, number>();
  for (let n = 1; n <= 3000; n++) newest.set(keyOf(log, n), n);
  expect([...new Database(log, true).read(1, 3000)]).toEqual([...newest.values()].sort((a, b) => a - b));
  expect(newest.size).toBeLessThan(2800);
});

it('a label value is applied to a subject before it is removed, and can be applied again afterwards', () => {
  const log = logOf('skyware');
  const negated = new Map<string, unknown[]>();
  for (let n = 1; n <= 3000; n++) {
    const { neg } = log.label(n).label as Record<string, unknown>;
    negated.set(keyOf(log, n), [...(negated.get(keyOf(log, n)) ?? []), neg]);
  }
  const histories = [...negated.values()];
  expect(new Set(histories.map(([first]) => first))).toEqual(new Set([false]));
  expect(histories.filter((history) => history.join() === 'false,true').length).toBeGreaterThan(100);
  expect(histories.filter((history) => history.length > 2).length).toBeGreaterThan(5);
});

it('a label on a record of the dense account is recognized, however the account was drawn', () => {
  const log = logOf('skyware');
  const dense = `did:plc:${accounts.slice(0, 24)}`;
  const numbers = Array.from({ length: 3000 }, (_, i) => i + 1);
  const onDense = numbers.filter((n) => JSON.stringify(log.label(n).label).includes(dense));
  expect(numbers.filter((n) => log.isAboutDenseAccount(n))).toEqual(onDense);
  expect(onDense.length).toBeGreaterThan(20);
});

it('seq numbers are reassigned after the database is restored, and restart at 1 after it is recreated', () => {
  const database = new Database(logOf('skyware'), false);
  database.loseTail(3, 10);
  expect([...database.read(1, 12)].map((n) => [n, database.seqOf(n)]).slice(-3)).toEqual([
    [7, 7],
    [11, 8],
    [12, 9],
  ]);
  expect([database.after(7), database.seqOf(9), database.newestSeq(12)]).toEqual([11, null, 9]);
  database.recreate(12);
  expect([database.newestSeq(12), database.newestSeq(14), database.after(0), database.seqOf(13)]).toEqual([
    0, 2, 13, 1,
  ]);
});
