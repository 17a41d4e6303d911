import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

it('an npm script that installs the runtime runs TypeScript with that runtime, not with a node that the shell has cached', () => {
  // A shell remembers where it found `node` before the install, whereas `env` looks it up again.
  const remembered = Object.entries(scripts).filter(([, line]) => /ready\.mjs && node \S+\.ts/.test(line));
  expect(remembered).toEqual([]);
});

it('an npm script that starts a program of this repository after other commands replaces its shell with the program', () => {
  // npm signals the shell. A shell that waits for its last command would end, and leave the command running.
  const waiting = Object.entries(scripts).filter(([, line]) =>
    /&& (?!exec )(?:env )?node \S+\.(?:ts|mjs)\b(?!.*&&)/.test(line),
  );
  expect(waiting).toEqual([]);
});

it.each([
  ['start', 'bin/almanac.mjs'],
  ['demo', 'bin/almanac.mjs'],
  ['siege', 'scripts/siege.ts'],
  ['bench', 'bench/run.ts'],
  ['test:day', 'scripts/simulate-day.ts'],
])('SIGTERM to `npm run %s` stops the program cleanly, and leaves no process', async (script, path) => {
  // Run the scripts of package.json with a substitute for Almanac that reports the signal.
  const folder = folderInTest();
  for (const name of ['scripts', 'bin', 'bench']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stand-in', type: 'module', scripts }));
  writeFileSync(join(folder, 'scripts', 'ready.mjs'), '');
  const program = `
    process.on('SIGTERM', () => { console.log('stopped'); process.exit(0); });
    setInterval(() => {}, 1000);
    console.log(process.pid, ...process.argv.slice(2));`;
  writeFileSync(join(folder, path), program);

  const npm = spawn('npm', ['run', '--silent', script, '--', '--port', '0'], {
    cwd: folder,
    // Find the runtime of this repository first, because an older one cannot run TypeScript.
    env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}` },
  });
  const ended = once(npm, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: npm.stdout })) {
    if (lines.push(line) > 1) continue;
    const pid = Number(line.split(' ')[0]);
    onTestFinished(() => endIfRunning(pid));
    npm.kill('SIGTERM');
    // Close the output, because a program that outlives npm would keep the output open and this loop waiting.
    void ended.then(() => npm.stdout.destroy());
  }
  expect(lines).toEqual([expect.stringMatching(/ --port 0$/), 'stopped']);
  expect(await ended).toEqual([0, null]);
});

function endIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited, as expected.
  }
}
