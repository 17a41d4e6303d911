import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';

it('almanac sim stops within seconds while it writes a history, and removes its temporary files', async () => {
  const folder = folderInTest();
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const history = ['--label-history', `sqlite:${join(folder, 'labels')}`, '--labelers', '200', '--label-rate', '50'];
  const { child, ended, stdout, stderr } = startProgramInTest(['sim', ...history], { env: { TMPDIR: temporary } });
  await until('the process has announced its addresses', () => stdout.length > 0);
  expect(readdirSync(temporary)).toHaveLength(1);
  child.kill('SIGTERM');
  expect(await ended()).toBe(0);
  // A complete history would have added a second line, which lists sample accounts.
  expect(stdout).toHaveLength(1);
  expect(stderr.join('\n')).toContain('the label history is incomplete, because a signal stopped the process');
  expect(readdirSync(temporary)).toEqual([]);
});
