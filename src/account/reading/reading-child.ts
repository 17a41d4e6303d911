import { type ChildProcess, fork } from 'node:child_process';
import { StoreError, type StoreErrorCode } from '../../store/errors.ts';
import type { ExportRefusal, ReadRows, RowsQuery } from '../export/rows.ts';
import { type AccountStore, accountStoreMethods } from '../query/account-store.ts';
import type { AccountView, ViewQuery } from '../view/view.ts';

/**
 * Reads that a reading process executes: methods of the store, `view` for all data of a page, and `readExport` for the
 * next rows of an export.
 */
export interface AccountReads extends AccountStore {
  /** Reads all data of an account's page. Data about labelers may come from a cache. */
  view(asked: ViewQuery): Promise<AccountView | 'out_of_window'>;
  /** See `readExport`. Only the bytes of the rows are passed to the serving process. */
  readExport(asked: RowsQuery): Promise<ReadRows | ExportRefusal>;
}

/** Names of all reads that a reading process executes. */
const accountReads = [...accountStoreMethods, 'view', 'readExport'] as const satisfies readonly (keyof AccountReads)[];

/** Request to a reading process for one read. */
export interface ReadQuestion {
  readonly id: number;
  readonly method: (typeof accountReads)[number];
  readonly args: readonly unknown[];
}

/** Response of a reading process: the result of the read, or its error. */
export type ReadAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: StoreErrorCode | 'failed'; readonly why: string };

/** Error for a read whose reading process has exited or was killed. */
export class ReadingEnded extends Error {
  constructor() {
    super('the reading process exited');
    this.name = 'ReadingEnded';
  }
}

/** A child process that reads the store. */
export interface ReadingChild {
  readonly store: AccountReads;
  /** Resolves once no read is in progress. */
  idle(): Promise<void>;
  /** Kills the process and resolves once it has exited. Pending reads reject with `ReadingEnded`. */
  kill(): Promise<void>;
  /** Returns true if the process has exited. */
  ended(): boolean;
}

/**
 * Heap limits of a reading process, in MB. Without them, the runtime would keep hundreds of megabytes of data that
 * was already sent. A read that exceeds these limits crashes the process.
 */
const memoryFlags = ['--max-old-space-size=192', '--max-semi-space-size=2'] as const;

/** Starts a reading process for the store at a URL. */
export function startReadingChild(url: string): ReadingChild {
  const child = forkReader(url);
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
        // The channel is broken. Kill the process; its exit event rejects the pending reads.
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

function forkReader(url: string): ChildProcess {
  // The module is a .js file in the compiled program but a .ts file in the source tree.
  const file = new URL(`./reading-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  return fork(file, [url], {
    serialization: 'advanced',
    execArgv: [...memoryFlags],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    // A process that could not be started emits no exit event.
    child.once('error', () => {
      if (child.pid === undefined) resolve();
    });
  });
}
