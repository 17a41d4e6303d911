import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode, storeErrors } from '../../errors.ts';

interface DayFiles {
  readonly from: string;
  readonly growing: string;
  readonly day: number;
}

/** Task of the worker thread, which writes a sealed day into `growing`. */
export type DayTask = DayFiles &
  (
    | {
        /**
         * `seal` writes the sealed form of an open day. `check` and `repair` rewrite a sealed day and add checksums. If
         * the counters do not match the rows, `check` fails, and `repair` recomputes them.
         */
        readonly kind: 'seal' | 'check' | 'repair';
      }
    /** Writes a sealed day without its rows about records in spaces. Writes no file if the day has no such rows. */
    | { readonly kind: 'spaces' }
    /** Writes a sealed day without the data of a source. */
    | { readonly kind: 'purge'; readonly source: string }
  );

/**
 * Writes a sealed day in a worker thread. Resolves once `growing` is complete and durable: with the number of its rows,
 * or for `purge` and `spaces` with the number of omitted rows.
 */
export async function writeInThread(task: DayTask, signal: AbortSignal): Promise<number> {
  // Modules are .js files in the compiled program but .ts files in the source tree.
  const file = new URL(`./seal-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const worker = new Worker(file, { workerData: task });
  const abort = (): void => void worker.terminate();
  signal.addEventListener('abort', abort);
  try {
    const ended = once(worker, 'exit').then(() => [{ code: 'closed', why: 'the sealing thread was terminated' }]);
    const [answer] = await Promise.race([once(worker, 'message'), ended]);
    return rowsOf(answer);
  } finally {
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function rowsOf(answer: unknown): number {
  const message = typeof answer === 'object' && answer !== null ? answer : {};
  if ('rows' in message && typeof message.rows === 'number') return message.rows;
  const code = 'code' in message ? String(message.code) : '';
  const why = 'why' in message ? String(message.why) : 'no response';
  throw new StoreError(isCode(code) ? code : 'unexpected', why);
}

function isCode(code: string): code is StoreErrorCode {
  return Object.hasOwn(storeErrors, code);
}
