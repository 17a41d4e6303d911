import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/** Output and exit code of `almanac labels`. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: readonly string[];
  /** Lines that are not log lines. */
  readonly stderr: readonly string[];
}

/** A running `almanac labels`. */
export interface LabelsProcess {
  readonly process: ChildProcess;
  /** Resolves once it prints that it observes; rejects if it ends before. */
  readonly observing: Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts `almanac labels` with these arguments, and these environment variables in addition to the path. */
export function spawnLabels(args: readonly string[], env: Readonly<Record<string, string>> = {}): LabelsProcess {
  const child = spawn(process.execPath, [bin, 'labels', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!line.startsWith('{')) stderr.push(line);
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }));
  const observing = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      stdout.push(line);
      if (line === 'almanac labels observing') resolve();
    });
    void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${stderr.join('\n')}`)));
  });
  // Tests of failing runs use `ended` only.
  observing.catch(() => undefined);
  return { process: child, observing, ended };
}
