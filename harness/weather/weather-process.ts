import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const program = join(root, 'bin', 'almanac.mjs');

/** Builds what `bin/almanac.mjs` runs, where a source changed since the last time. */
export function makeReady(): void {
  const done = spawnSync(process.execPath, [join(root, 'scripts', 'ready.mjs')], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`the program could not be built: ${done.stderr}`);
}

/** A command that runs in a process of its own. */
export interface RunningCommand {
  readonly child: ChildProcess;
  /** Resolves with the first line on stdout, which says that it runs; rejects when it ends before. */
  readonly ready: Promise<string>;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  /** All that it wrote to stderr so far. */
  stderr(): string;
}

/** Starts `almanac` with these arguments, as an operator would. */
export function runCommand(args: readonly string[]): RunningCommand {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], cwd: root });
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<number | string>();
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    const end = stdout.indexOf('\n');
    if (end >= 0) ready.resolve(stdout.slice(0, end));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('close', (code, signal) => {
    ready.reject(new Error(`the command ended before it was ready: ${stderr}`));
    ended.resolve(code ?? signal ?? 'unknown');
  });
  // Whoever only waits for the end must not trip over the other promise.
  ready.promise.catch(() => undefined);
  return { child, ready: ready.promise, ended: ended.promise, stderr: () => stderr };
}
