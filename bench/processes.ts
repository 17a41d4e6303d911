import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { killAtExit } from '../harness/process/at-exit.ts';
import { memoryMib } from '../harness/process/process-tree.ts';

/** A measured program, pinned to one core. */
export interface Measured {
  readonly url: string;
  readonly startedInMs: number;
  /** Returns the current resident memory of the started process, without its child processes, in MiB. */
  residentMiB(): number;
  stop(): Promise<void>;
}

/**
 * Starts a program on a core and waits for the line with the program's address. Rejects if the program's output ends
 * without such a line.
 */
export async function startMeasured(core: number, command: readonly string[]): Promise<Measured> {
  const began = performance.now();
  const child = spawn('taskset', ['-c', String(core), ...command], { stdio: ['ignore', 'pipe', 'ignore'] });
  killAtExit(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    return {
      url,
      startedInMs: performance.now() - began,
      residentMiB: () => Math.round(memoryMib(child.pid, 'VmRSS')),
      stop: () => ended(child),
    };
  }
  throw new Error(`${command.join(' ')} exited before it listened`);
}

/** Stops a child process, and waits until it has exited. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Results of one round of wrk. */
export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs one round of wrk on a core with 64 keep-alive connections. Throws if wrk, a connection or a response fails. */
export function load(core: number, url: string, seconds: number, headers: readonly string[] = []): Load {
  const args = ['-c', String(core), 'wrk', '-t1', '-c64', `-d${seconds}s`, '--latency'];
  const done = spawnSync('taskset', [...args, ...headers.flatMap((header) => ['-H', header]), url], {
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`wrk failed: ${done.stderr}`);
  if (/Non-2xx or 3xx|Socket errors/.test(done.stdout)) throw new Error(`wrk received errors:\n${done.stdout}`);
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(done.stdout)?.[1]),
    p50Ms: milliseconds(/50%\s+(\S+)/.exec(done.stdout)?.[1]),
    p99Ms: milliseconds(/99%\s+(\S+)/.exec(done.stdout)?.[1]),
  };
}

function milliseconds(text = ''): number {
  const value = Number.parseFloat(text);
  if (text.endsWith('us')) return value / 1000;
  return text.endsWith('ms') ? value : value * 1000;
}
