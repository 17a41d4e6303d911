import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/** The running built program. */
export interface Almanac {
  readonly process: ChildProcess;
  /** The address that it announced. */
  readonly url: string;
  /** Its output so far. */
  readonly lines: string[];
  /** Its log so far, as parsed lines. */
  readonly log: Record<string, unknown>[];
  /** Stops it; resolves with its exit code once all its output was read. */
  stop(): Promise<number | null>;
}

/** Starts a server command of the built program and waits for the line with its address. */
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
  const lines: string[] = [];
  // Not the exit event, after which output may still arrive.
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = await announced(child, lines);
  if (url === null) {
    await ended;
    throw new Error(`the program ended before it listened:\n${said.join('\n')}`);
  }
  return {
    process: child,
    url,
    lines,
    log,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/**
 * Resolves with the first address in the output; null if the program ends before. Keeps reading, so that the program
 * never blocks.
 */
function announced(child: ChildProcess, lines: string[]): Promise<string | null> {
  const { stdout } = child;
  if (!stdout) return Promise.resolve(null);
  return new Promise((resolve) => {
    const reading = createInterface({ input: stdout });
    reading.on('line', (line) => {
      lines.push(line);
      const url = /listening on (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    reading.once('close', () => resolve(null));
  });
}
