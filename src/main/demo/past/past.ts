import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { OperatorError } from '../../../ops/errors.ts';

/** Arguments of the process that writes the past of a demo. */
export interface PastOrder {
  /** Directory of the demo. */
  readonly data: string;
  /** Directory of the archive. */
  readonly archive: string;
  /** Endpoint of the simulated host, in the form that the weather instrument stores. */
  readonly endpoint: string;
  /** End of the past, in microseconds. */
  readonly endUs: number;
  /** Parameters of the simulated host. */
  readonly seed: number;
  readonly rate: number;
}

/**
 * Messages of the process: `weather` once the weather store is written, `begun` once the archive contains its first
 * hour.
 */
export type PastMessage = 'weather' | 'begun';

/** The running process that writes the past of a demo. */
export interface Past {
  /** Resolves when the weather store is written. Rejects if the process exits first. */
  readonly weather: Promise<void>;
  /**
   * Starts the archive. The label store must already be written. Resolves after the archive's first hour; rejects if
   * the process exits first.
   */
  beginArchive(): Promise<void>;
  /** Resolves with true when the archive is complete, and with false if the process failed or was stopped. */
  readonly archived: Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Node.js flags. Simulating many hours creates garbage, for which the runtime would otherwise keep 100 MB of memory.
 */
const memoryFlags = ['--max-semi-space-size=4'] as const;

/** Starts the process. Its log goes to `stderr`: inherited, or a file descriptor. */
export function startPast(order: PastOrder, stderr: 'inherit' | number): Past {
  // The module is .js in the compiled program, and .ts in the sources.
  const file = new URL(`./past-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const child = fork(file, [JSON.stringify(order)], {
    execArgv: [...memoryFlags],
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    // Use a separate process group, so that Ctrl-C in the terminal reaches only the demo.
    detached: true,
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    // A process that could not be started emits no exit event.
    child.once('error', () => resolve(null));
  });
  const weather = messageOf(child, 'weather', ended);
  const begun = messageOf(child, 'begun', ended);
  for (const promise of [weather, begun]) promise.catch(() => undefined);
  return {
    weather,
    async beginArchive() {
      child.send('archive');
      await begun;
    },
    archived: ended.then((code) => code === 0),
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function messageOf(child: ChildProcess, message: PastMessage, ended: Promise<unknown>): Promise<void> {
  const stop = new AbortController();
  const received = async (): Promise<void> => {
    for (;;) {
      const [one] = (await once(child, 'message', { signal: stop.signal })) as [unknown];
      if (one === message) return;
    }
  };
  const failed = ended.then(() => {
    throw new OperatorError('the simulated history of the demo could not be written');
  });
  try {
    await Promise.race([received(), failed]);
  } finally {
    stop.abort();
  }
}
