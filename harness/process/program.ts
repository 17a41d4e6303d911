import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/** The running built program, from its first line to its exit code. */
export interface Program {
  readonly child: ChildProcess;
  /** Lines so far. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Returns the parsed log lines of `stderr`. */
  log(): Record<string, unknown>[];
  /** Resolves with the announced address; rejects with the output if the program ends before. */
  listening(): Promise<{ port: number; url: string }>;
  /** Resolves with the exit code, or the signal's name, once the program has ended and its output was read. */
  ended(): Promise<number | string>;
}

/** Options of starting the program. */
export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Runtime, if not that of the test, the pinned one. */
  readonly runtime?: string;
}

/** Starts the built program with arguments. It is killed after its test. */
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
