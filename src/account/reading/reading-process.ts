import { StoreError } from '../../store/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { AccountChunk, StoreReader } from '../../store/port.ts';
import { accountStoreMethods } from '../account-store.ts';
import { type ReadAnswer, type ReadQuestion, withoutBytes } from './protocol.ts';

/**
 * The process that reads the store, and does nothing else. It may be killed at any instant: a query of the store
 * cannot be interrupted from within. It opens the store at the first question, and again after a fault.
 */

const [, , url = ''] = process.argv;
let store: StoreReader | null = null;

async function answer({ id, method, args }: ReadQuestion): Promise<ReadAnswer> {
  try {
    if (!accountStoreMethods.includes(method)) throw new StoreError('invalid_query', `no such read: ${method}`);
    store ??= openStoreReader(url);
    const read = store[method] as (...args: readonly unknown[]) => Promise<unknown>;
    const value = await read(...args);
    if (method !== 'readAccount') return { id, ok: true, value };
    const { rows, next } = value as AccountChunk;
    return { id, ok: true, value: { rows: rows.map(withoutBytes), next } };
  } catch (error) {
    const code = error instanceof StoreError ? error.code : 'failed';
    if (code === 'damaged' || code === 'failed' || code === 'not_a_store') await release();
    return { id, ok: false, code, why: error instanceof Error ? error.message : String(error) };
  }
}

async function release(): Promise<void> {
  const closing = store;
  store = null;
  await closing?.close().catch(() => {
    // It is let go of either way.
  });
}

process.on('message', (question: ReadQuestion) => {
  void answer(question).then((told) => process.send?.(told));
});
// The serving process decides when this one ends; a signal to the whole group is its business.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
