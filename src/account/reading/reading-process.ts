import { performance } from 'node:perf_hooks';
import { StoreError } from '../../store/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { AccountChunk, StoreReader } from '../../store/port.ts';
import { accountStoreMethods } from '../account-store.ts';
import { DefinitionCache } from '../page/definitions.ts';
import { missedOf } from '../page/missed.ts';
import { labelersOf } from '../page/network.ts';
import { readView, type ViewQuery } from '../page/view.ts';
import { type ReadAnswer, type ReadQuestion, withoutBytes } from './protocol.ts';

/**
 * The process that reads the store, and does nothing else. It may be killed at any instant: a query of the store
 * cannot be interrupted from within. It opens the store at the first question, and again after a fault.
 */

const [, , url = ''] = process.argv;
let store: StoreReader | null = null;

const monotonic = (): number => performance.now();
const shared = {
  definitions: new DefinitionCache(monotonic),
  labelers: labelersOf(monotonic),
  missed: missedOf(monotonic),
};

async function read(reader: StoreReader, { method, args }: ReadQuestion): Promise<unknown> {
  if (method === 'view') {
    const view = await readView({ store: reader, ...shared }, args[0] as ViewQuery);
    if (view === 'out_of_window') return view;
    return { ...view, parts: view.parts.map((part) => ({ ...part, rows: part.rows.map(withoutBytes) })) };
  }
  if (!accountStoreMethods.includes(method)) throw new StoreError('invalid_query', `no such read: ${method}`);
  const value = await (reader[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
  if (method !== 'readAccount') return value;
  const { rows, next } = value as AccountChunk;
  return { rows: rows.map(withoutBytes), next };
}

async function answer(question: ReadQuestion): Promise<ReadAnswer> {
  const { id } = question;
  try {
    store ??= openStoreReader(url);
    return { id, ok: true, value: await read(store, question) };
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
  // The serving process may be gone by then: nobody is left to be told.
  void answer(question).then((told) => process.send?.(told, undefined, undefined, () => undefined));
});
// The serving process decides when this one ends; a signal to the whole group is its business.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
