import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../command.ts';

/** One process of an observatory, which runs a command of this program. */
export interface Part {
  readonly name: string;
  readonly args: readonly string[];
  /** Flags for the Node runtime. Defaults to none. */
  readonly nodeFlags?: readonly string[];
}

/** The running process of a part. */
export interface PartProcess {
  readonly process: ChildProcess;
  /** Returns the next line of stdout, or null if the process ended first. */
  nextLine(): Promise<string | null>;
  /**
   * Sends a stop signal, and kills the process if it has not exited after `killAfterMs`. Resolves once it has exited.
   */
  stop(killAfterMs: number): Promise<void>;
}

/** Starts a part. Its log goes to `stderr`: inherited, or a file descriptor. */
export function startPart({ name, args, nodeFlags = [] }: Part, stderr: 'inherit' | number): PartProcess {
  const bin = join(packageRoot(), 'bin', 'almanac.mjs');
  const child = spawn(process.execPath, [...nodeFlags, bin, name, ...args], {
    // The `ipc` channel closes if this process is killed, which makes the part exit.
    stdio: ['ignore', 'pipe', stderr, 'ipc'],
    // Use a separate process group, so that Ctrl-C in the terminal reaches only this process, which stops the parts in
    // order.
    detached: true,
    env: { ...process.env, __ALMANAC_PARENT: '1' },
  });
  const lines = child.stdout ? createInterface({ input: child.stdout })[Symbol.asyncIterator]() : null;
  return {
    process: child,
    async nextLine() {
      const next = await lines?.next();
      return next === undefined || next.done === true ? null : next.value;
    },
    async stop(killAfterMs) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      await gone;
      clearTimeout(kill);
    },
  };
}
