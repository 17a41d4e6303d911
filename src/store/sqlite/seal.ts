import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode, storeErrors } from '../errors.ts';

/** What the thread does: it seals a day, or rewrites a sealed one without a source. */
export type DayTask =
  | { readonly kind: 'seal'; readonly open: string; readonly growing: string; readonly day: number }
  | { readonly kind: 'purge'; readonly sealed: string; readonly growing: string; readonly source: string };

/** Rewrites a day in a thread of its own; resolves with its rows once `growing` is complete and durable. */
export function sealInThread(open: string, growing: string, day: number, signal: AbortSignal): Promise<number> {
  return inThread({ kind: 'seal', open, growing, day }, signal);
}

/**
 * Rewrites a sealed day without a source in a thread of its own; resolves with the rows that it left out once `growing`
 * is complete and durable.
 */
export function purgeInThread(sealed: string, growing: string, source: string, signal: AbortSignal): Promise<number> {
  return inThread({ kind: 'purge', sealed, growing, source }, signal);
}

async function inThread(task: DayTask, signal: AbortSignal): Promise<number> {
  // The compiled program has its modules as .js, the sources as .ts.
  const file = new URL(`./seal-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const worker = new Worker(file, { workerData: task });
  const abort = (): void => void worker.terminate();
  signal.addEventListener('abort', abort);
  try {
    const ended = once(worker, 'exit').then(() => [{ code: 'closed', why: 'the thread that seals was ended' }]);
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
  const why = 'why' in message ? String(message.why) : 'no answer';
  throw new StoreError(isCode(code) ? code : 'damaged', why);
}

function isCode(code: string): code is StoreErrorCode {
  return Object.hasOwn(storeErrors, code);
}
