import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';

const run = promisify(execFile);

/** Starts a process that uses a tenth of a second of processor time while it holds the directory's lock. */
function start(folder: string): Promise<{ stdout: string }> {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { oneAtATime } from ${JSON.stringify(join(root, 'scripts', 'one-at-a-time.mjs'))};
    const note = (what) => appendFileSync(${JSON.stringify(join(folder, 'log'))}, what + ' ' + process.pid + '\\n');
    oneAtATime(${JSON.stringify(folder)}, () => {
      note('begins');
      const until = performance.now() + 100;
      while (performance.now() < until);
      note('ends');
    }, (holder) => console.log('waits for ' + holder));`;
  return run(process.execPath, ['--input-type=module', '-e', script]);
}

it('simultaneous starts of a clone prepare the clone one at a time', async () => {
  const folder = folderInTest();
  await Promise.all(Array.from({ length: 8 }, () => start(folder)));
  const lines = readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(16);
  for (let at = 0; at < lines.length; at += 2) {
    expect(lines[at + 1]).toBe(lines[at]?.replace('begins', 'ends'));
  }
});

it.each([
  ['has no holder', () => ''],
  ['names a process with another start time', () => `${process.pid} 1`],
])('a start of a clone does not wait for a lock that %s', async (_what, lock) => {
  const folder = folderInTest();
  writeFileSync(join(folder, 'lock'), lock());
  expect((await start(folder)).stdout).toBe('');
});

it('a start of a clone does not wait for a process that was killed while it prepared the clone', async () => {
  const folder = folderInTest();
  const ended = run(process.execPath, ['-e', '']);
  await ended;
  writeFileSync(join(folder, 'lock'), `${ended.child.pid} 1`);
  expect((await start(folder)).stdout).toBe('');
  expect(readFileSync(join(folder, 'log'), 'utf8')).toMatch(/^begins (\d+)\nends \1\n$/);
});
