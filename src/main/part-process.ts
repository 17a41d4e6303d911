import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from './command.ts';

/** One process of an observatory: a command of this program. */
export interface Part {
  readonly name: string;
  readonly args: readonly string[];
  /** Flags of its runtime, before the program; none unless given. */
  readonly nodeFlags?: readonly string[];
}

/** A part's process, started. */
export interface PartProcess {
  readonly process: ChildProcess;
  /** The next line of its stdout; null when it ended before. */
  nextLine(): Promise<string | null>;
  /** Asks it to stop, and kills it when it has not by then; resolves when it is gone. */
  stop(killAfterMs: number): Promise<void>;
}

/** Starts a part. Its log goes to `stderr`: inherited, or a file's descriptor. */
export function startPart({ name, args, nodeFlags = [] }: Part, stderr: 'inherit' | number): PartProcess {
  const bin = join(packageRoot(), 'bin', 'almanac.mjs');
  const child = spawn(process.execPath, [...nodeFlags, bin, name, ...args], {
    // The channel closes when this process is killed outright, and the part then ends itself.
    stdio: ['ignore', 'pipe', stderr, 'ipc'],
    // Not in the terminal's group: an interrupt comes here alone, and the parts are stopped in order.
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
