import { expect, test } from 'vitest';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { repeat } from './wait.ts';

/** Runs a task that fails once and then aborts; returns the log lines and the errors that were passed to `fail`. */
async function failingWith(error: Error) {
  const stop = new AbortController();
  const lines: [level: string, message: string][] = [];
  const log = {
    warn: (message: string) => void lines.push(['warn', message]),
    error: (message: string) => void lines.push(['error', message]),
  } as unknown as Log;
  const failures: unknown[] = [];
  let runs = 0;
  const work = async (): Promise<void> => {
    runs += 1;
    if (runs === 1) throw error;
    stop.abort();
  };
  await repeat(1, work, stop.signal, log, (failure) => failures.push(failure));
  return { lines, failures, runs };
}

test.each([
  ['a transient error of the store', new StoreError('disk_full', 'no space left')],
  ['an error that is not an error of the store', new TypeError('ours')],
])('a periodic task that fails with %s is retried, and the log states the retry', async (_, error) => {
  expect(await failingWith(error)).toEqual({
    lines: [['warn', 'a periodic task failed and will be retried']],
    failures: [],
    runs: 2,
  });
});

test('a periodic task that fails with a permanent error of the store is reported and logged as permanently failed', async () => {
  const error = new StoreError('damaged', 'the files are inconsistent');
  expect(await failingWith(error)).toMatchObject({
    lines: [['error', 'a periodic task failed permanently']],
    failures: [error],
  });
});
