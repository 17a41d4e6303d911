import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A running `appender.ts`. */
export interface Appending {
  readonly process: ChildProcess;
  /** Returns the next line of output; null once the process has exited. */
  line(): Promise<string | null>;
  /** Kills the process immediately. Resolves when it has exited. */
  kill(): Promise<void>;
}

/** Starts `appender.ts` on a store. */
export function startAppending(url: string, leaseMs: number): Appending {
  const script = fileURLToPath(new URL('./appender.ts', import.meta.url));
  const child = spawn(process.execPath, [script, url, String(leaseMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    line: async () => {
      const { done, value } = await lines.next();
      return done === true ? null : value;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
