import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const module = new URL('command.ts', import.meta.url).href;

/** Runs a process whose command is the given promise. */
function exited(command: string) {
  const script = `const { exitWithCodeOf } = await import('${module}'); exitWithCodeOf(${command});`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return { status, stderr };
}

it.each([0, 3])('the process exits with the exit code of the command (%i)', (code) => {
  expect(exited(`Promise.resolve(${code})`)).toEqual({ status: code, stderr: '' });
});

it('a process whose command never ends exits with 1, so that it does not look successful', () => {
  const stderr = 'almanac: the process ended before the command was complete\n';
  expect(exited('new Promise(() => undefined)')).toEqual({ status: 1, stderr });
});

it('a process whose command fails exits with 1 and prints the error', () => {
  const { status, stderr } = exited("Promise.reject(new Error('broken'))");
  expect([status, stderr]).toEqual([1, expect.stringContaining('Error: broken')]);
});
