import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { runFiles } from '../../scripts/tiers/run-files.ts';

const fixtures: Record<string, string> = {
  'assertion.test.ts': "it('fails', () => { expect(1, 'first message').toBe(2); }); it('passes', () => {});",
  'crash.test.ts':
    "it('ends its process', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); });",
  'hook.test.ts': "beforeAll(() => { throw new Error('in a hook'); }); it('does not run', () => {});",
  'outside.test.ts':
    "it('passes', () => { setTimeout(() => { throw new Error('outside the tests'); }, 0); return new Promise((resolve) => setTimeout(resolve, 20)); });",
  'passes.test.ts': "it('passes', () => {}); it.skip('is skipped', () => {});",
};

it('a run of test files reports every failure with its file: an assertion, a hook, an error outside tests, a dead process', () => {
  const root = folderInTest();
  symlinkSync(join(import.meta.dirname, '..', '..', 'node_modules'), join(root, 'node_modules'));
  writeFileSync(
    join(root, 'vitest.config.ts'),
    "export default { test: { projects: [{ test: { name: 'proof', globals: true, pool: 'forks', include: ['*.test.ts'] } }] } };",
  );
  for (const [file, text] of Object.entries(fixtures)) writeFileSync(join(root, file), text);

  const { files, strayError } = runFiles({ tiers: ['proof'], root, prints: false });

  const found = files.map(({ file, isPassed, passedTests, failedTests, skippedTests, message }) => {
    return [file, isPassed, passedTests, failedTests, skippedTests, message];
  });
  expect(strayError).toBeNull();
  expect(found.sort()).toEqual([
    ['assertion.test.ts', false, 1, 1, 0, 'first message: expected 1 to be 2 // Object.is equality'],
    ['crash.test.ts', false, 0, 1, 0, 'the process of the file ended before its tests'],
    ['hook.test.ts', false, 0, 0, 1, 'in a hook'],
    ['outside.test.ts', false, 1, 0, 0, 'outside the tests'],
    ['passes.test.ts', true, 1, 0, 1, null],
  ]);
  expect(runFiles({ tiers: ['proof'], root, prints: false, files: ['passes.test.ts'] }).strayError).toBeNull();
  expect(runFiles({ tiers: ['proof'], root, prints: false, files: ['absent.test.ts'] }).strayError).not.toBeNull();
});
