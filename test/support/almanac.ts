import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/** The built program, running. */
export interface Almanac {
  readonly process: ChildProcess;
  /** Address that it announced. */
  readonly url: string;
  /** Its log so far, one parsed line each. */
  readonly log: Record<string, unknown>[];
  /** Asks it to stop; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a server command of the built program and waits for the line that tells its address. */
export async function startAlmanac(args: readonly string[], env: Record<string, string> = {}): Promise<Almanac> {
  const child = spawn(process.execPath, [bin, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  const log: Record<string, unknown>[] = [];
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    if (line.startsWith('{')) log.push(JSON.parse(line) as Record<string, unknown>);
  });
  const url = await announced(child);
  if (url === null) throw new Error(`the program ended before it listened:\n${said.join('\n')}`);
  return {
    process: child,
    url,
    log,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      return child.exitCode;
    },
  };
}

async function announced(child: ChildProcess): Promise<string | null> {
  if (!child.stdout) return null;
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const url = /listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) {
      // The rest of stdout is read and dropped, so that the program never blocks on it.
      child.stdout.resume();
      return url;
    }
  }
  return null;
}
