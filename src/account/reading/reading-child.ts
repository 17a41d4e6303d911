import { type ChildProcess, fork } from 'node:child_process';
import { StoreError } from '../../store/errors.ts';
import { type AccountReads, accountReads, type ReadAnswer, type ReadQuestion } from './protocol.ts';

/** A reading process of which nothing more will come: it was killed, or it died. */
export class ReadingEnded extends Error {
  constructor() {
    super('the reading process ended');
    this.name = 'ReadingEnded';
  }
}

/** One reading process. */
export interface ReadingChild {
  readonly store: AccountReads;
  /** Resolves when no read is under way. */
  idle(): Promise<void>;
  /** Kills it; resolves when it is gone. Reads under way reject with ReadingEnded only then. */
  kill(): Promise<void>;
  /** Returns true if it has exited. */
  ended(): boolean;
}

/**
 * Memory of a reading process. What it reads is garbage when it is sent, and the runtime would keep hundreds of megabytes of
 * room for it. A read that needs more ends its process, as one that takes too long does.
 */
const memoryFlags = ['--max-old-space-size=192', '--max-semi-space-size=2'] as const;

/** Starts a reading process over the store at a URL. */
export function startReadingChild(url: string): ReadingChild {
  // The compiled program has its modules as .js, the sources as .ts.
  const file = new URL(`./reading-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const child = fork(file, [url], {
    serialization: 'advanced',
    execArgv: [...memoryFlags],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  const gone = ended(child);
  let idlers: (() => void)[] = [];
  let over = false;
  let lastId = 0;

  function settled(): void {
    if (waiting.size > 0) return;
    for (const idler of idlers) idler();
    idlers = [];
  }

  void gone.then(() => {
    over = true;
    for (const { reject } of waiting.values()) reject(new ReadingEnded());
    waiting.clear();
    settled();
  });
  child.on('message', (answer: ReadAnswer) => {
    const asked = waiting.get(answer.id);
    if (!asked) return;
    waiting.delete(answer.id);
    if (answer.ok) asked.resolve(answer.value);
    else asked.reject(answer.code === 'failed' ? new Error(answer.why) : new StoreError(answer.code, answer.why));
    settled();
  });

  function ask(method: ReadQuestion['method'], args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (over) {
        reject(new ReadingEnded());
        return;
      }
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      child.send({ id: lastId, method, args }, (error) => {
        // A channel that broke: its end is told by the exit of the process.
        if (error) child.kill('SIGKILL');
      });
    });
  }

  const reads = accountReads.map((method) => [method, (...args: unknown[]) => ask(method, args)] as const);
  return {
    store: Object.fromEntries(reads) as unknown as AccountReads,
    idle: () => (waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    ended: () => over,
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    // It could not even be started: there will be no exit.
    child.once('error', () => {
      if (child.pid === undefined) resolve();
    });
  });
}
