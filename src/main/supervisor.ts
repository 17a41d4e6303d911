import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { OperatorError } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { packageRoot } from './command.ts';

/** One process of an observatory: a command of this program. */
export interface Part {
  readonly name: string;
  readonly args: readonly string[];
}

/** Restarts wait this long at first, and twice as long after each death, up to the cap; in milliseconds. */
const restart = { firstMs: 500, capMs: 30_000 } as const;
/** A part that lived this long has recovered: its next restart is quick again. */
const recoveredMs = 60_000;
/** A part that has not stopped by then is killed. */
const killAfterMs = 8_000;

/** The parts of an observatory, running. */
export interface Supervised {
  /** The line that each part said when it was ready, by name. */
  readonly ready: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

/**
 * Runs each part as a process of its own. A part that cannot start at all has said why, and stops the whole; one
 * that dies later is started again, with growing pauses, and the others never notice.
 */
export async function supervise(parts: readonly Part[], log: Log, now: () => number): Promise<Supervised> {
  const running = parts.map((part) => createKeeper(part, log, now));
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((keeper) => keeper.stop()));
  };
  const ready = new Map<string, string>();
  try {
    const lines = await Promise.all(running.map((keeper) => keeper.start()));
    for (const [index, { name }] of parts.entries()) ready.set(name, lines[index] ?? '');
  } catch (error) {
    await stop();
    throw error;
  }
  return { ready, stop };
}

function createKeeper({ name, args }: Part, log: Log, now: () => number) {
  let child: ChildProcess | null = null;
  let waiting: NodeJS.Timeout | null = null;
  let stopping = false;
  let pauseMs: number = restart.firstMs;

  function launch(): { ready: Promise<string | null>; process: ChildProcess } {
    const bin = join(packageRoot(), 'bin', 'almanac.mjs');
    const launched = spawn(process.execPath, [bin, name, ...args], {
      // The channel closes when this process is killed outright, and the part then ends itself.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: { ...process.env, __ALMANAC_PARENT: '1' },
    });
    child = launched;
    return { ready: firstLine(launched), process: launched };
  }

  function watch(watched: ChildProcess): void {
    const since = now();
    watched.once('exit', (code, signal) => {
      if (stopping) return;
      if (now() - since >= recoveredMs) pauseMs = restart.firstMs;
      log.error('a part died and is started again', { part: name, code, signal, inMs: pauseMs });
      waiting = setTimeout(again, pauseMs);
      pauseMs = Math.min(pauseMs * 2, restart.capMs);
    });
  }

  function again(): void {
    const { process: launched, ready } = launch();
    watch(launched);
    ready.then(
      (line) => {
        if (line !== null) log.info('a part is running again', { part: name });
      },
      () => undefined,
    );
  }

  return {
    async start(): Promise<string> {
      const { ready, process: launched } = launch();
      const line = await ready;
      if (line === null) throw new OperatorError(`almanac ${name} could not start`);
      watch(launched);
      return line;
    },
    async stop(): Promise<void> {
      stopping = true;
      if (waiting) clearTimeout(waiting);
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const kill = setTimeout(() => child?.kill('SIGKILL'), killAfterMs);
      await gone;
      clearTimeout(kill);
    },
  };
}

/** The first line that a process prints: it is ready. Null when it ends before. */
async function firstLine(child: ChildProcess): Promise<string | null> {
  if (!child.stdout) return null;
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    child.stdout.resume();
    return line;
  }
  return null;
}
