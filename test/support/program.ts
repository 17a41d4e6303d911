import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/** The built program as a person starts it, from its first line to its exit code. */
export interface Program {
  readonly child: ChildProcess;
  /** Lines so far. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** The log lines among `stderr`, parsed. */
  log(): Record<string, unknown>[];
  /** Resolves with the address once it is announced; rejects with what was said when the program ends before. */
  listening(): Promise<{ port: number; url: string }>;
  /** Resolves with the exit code, or the signal's name, once the program has ended and all it said is here. */
  ended(): Promise<number | string>;
}

/** How to start the program. */
export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Another runtime than this test's own, the pinned one. */
  readonly runtime?: string;
}

/** Starts the built program with arguments. It is killed when its test ends. */
export function startProgram(args: readonly string[], { env = {}, runtime }: ProgramOptions = {}): Program {
  const child = spawn(runtime ?? process.execPath, [bin, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  const out = createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line));
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const listening = new Promise<{ port: number; url: string }>((resolve, reject) => {
    out.on('line', (line) => {
      const url = /listening on (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve({ url, port: Number(new URL(url).port) });
    });
    ended.then((code) => reject(new Error(`ended with ${code} before it listened:\n${stderr.join('\n')}`)), reject);
  });
  // Many tests only wait for the end.
  listening.catch(() => undefined);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return {
    child,
    stdout,
    stderr,
    log: () => stderr.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>),
    listening: () => listening,
    ended: () => ended,
  };
}

/** Runs the program to its end. */
export async function runProgram(args: readonly string[], options: ProgramOptions = {}) {
  const program = startProgram(args, options);
  const code = await program.ended();
  return { code, stdout: program.stdout, stderr: program.stderr };
}

/** Waits until a condition holds; fails with `what` after half a minute. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
