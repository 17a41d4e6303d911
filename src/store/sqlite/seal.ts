import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode, storeErrors } from '../errors.ts';

interface DayFiles {
  readonly from: string;
  readonly growing: string;
  readonly day: number;
}

/** Work of the thread that writes into `growing`. */
export type DayTask = DayFiles &
  (
    | {
        /**
         * `seal`: the sealed form of an open day. `check` and `repair`: a sealed day again, with checksums; `check` refuses
         * a day whose counters are not those of its rows, `repair` derives them again.
         */
        readonly kind: 'seal' | 'check' | 'repair';
      }
    /** A sealed day without anything of a source. */
    | { readonly kind: 'purge'; readonly source: string }
  );

/**
 * Writes a sealed day in a thread of its own; resolves once `growing` is complete and durable, with its rows, or with the
 * rows that a purge left out.
 */
export async function writeInThread(task: DayTask, signal: AbortSignal): Promise<number> {
  // The compiled program has its modules as .js, the sources as .ts.
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
  throw new StoreError(isCode(code) ? code : 'damaged', why);
}

function isCode(code: string): code is StoreErrorCode {
  return Object.hasOwn(storeErrors, code);
}
