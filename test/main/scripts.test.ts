import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { root } from '../../harness/process/imports.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

it('an npm script that installs the runtime runs TypeScript with that runtime, not with a node that the shell has cached', () => {
  // A shell remembers where it found `node` before the install, whereas `env` looks it up again.
  const remembered = Object.entries(scripts).filter(([, line]) => /ready\.mjs && node \S+\.ts/.test(line));
  expect(remembered).toEqual([]);
});

it.each(['start', 'demo'])(
  'SIGTERM to `npm run %s` stops the program cleanly, and leaves no process',
  async (script) => {
    // Run the scripts of package.json with a substitute for Almanac that reports the signal.
    const folder = mkdtempSync(join(tmpdir(), 'almanac-scripts-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const name of ['scripts', 'bin']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stand-in', scripts }));
    writeFileSync(join(folder, 'scripts', 'ready.mjs'), '');
    const program = `
    process.on('SIGTERM', () => { console.log('stopped'); process.exit(0); });
    setInterval(() => {}, 1000);
    console.log(process.pid, ...process.argv.slice(2));`;
    writeFileSync(join(folder, 'bin', 'almanac.mjs'), program);

    const npm = spawn('npm', ['run', '--silent', script, '--', '--port', '0'], { cwd: folder });
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
  },
);

function endIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited, as expected.
  }
}
