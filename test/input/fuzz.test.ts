import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fuzzEntries, inputAt } from '../../harness/fuzz/entries.ts';
import { excess } from '../../harness/fuzz/measure.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { inputLimits } from '../../src/input/limits.ts';

const script = new URL('../../scripts/fuzz-inputs.ts', import.meta.url).pathname;

function fuzz(...words: string[]): Promise<{ code: number; out: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...words], (error, out, errors) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, errors });
    });
  });
}

test('the fuzzer covers every entry point in the table of limits', () => {
  expect(Object.keys(fuzzEntries)).toEqual(Object.keys(inputLimits));
});

test('the fuzzer derives each input only from the entry point and the number of the input', () => {
  expect(inputAt('labelFrame', 17)).toEqual(inputAt('labelFrame', 17));
  expect(inputAt('labelPage', 17)).not.toEqual(inputAt('labelPage', 18));
});

test('the corpus and 200,000 hostile inputs stay within the budgets of their entry points in a small heap', async () => {
  expect(await fuzz('--inputs', '200000')).toMatchObject({ code: 0, errors: '' });
});

test('the fuzzer continues at the input at which the previous run ended, and completes the inputs of all runs', async () => {
  const folder = folderInTest();
  const state = join(folder, 'state.json');
  const words = ['--entry', 'cursor', '--state', state, '--inputs'];
  await fuzz(...words, '20');
  const { out } = await fuzz(...words, '30');
  expect(out).toContain('| cursor | 50 |');
  expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ next: { cursor: 50 } });
  expect((await fuzz(...words, '30', '--until', '60')).out).toContain('| cursor | 60 |');
});

test('the fuzzer reports a cost that exceeds the budget of the entry point', () => {
  const cost = { bytes: 1_000, microseconds: 10, heap: 1_000 };
  expect(excess('cursor', cost)).toBeNull();
  expect(excess('cursor', { ...cost, microseconds: 1_000_000 })).toContain('processor time');
  expect(excess('cursor', { ...cost, heap: 100_000_000 })).toContain('memory');
});
