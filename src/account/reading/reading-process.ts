import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { StoreError, storeErrors } from '../../store/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { AccountChunk, StoreReader } from '../../store/port.ts';
import { accountStoreMethods } from '../query/account-store.ts';
import { type Definition, DefinitionCache } from '../view/definitions.ts';
import { missedOf } from '../view/missed.ts';
import { labelersOf } from '../view/network.ts';
import { type AccountView, readView, type ViewQuery } from '../view/view.ts';
import { boundedChunk, cut, type ReadAnswer, type ReadQuestion, shortened } from './protocol.ts';

/**
 * Process that reads the store. The serving process may kill it at any time, because nothing else can interrupt a
 * query. It opens the store at the first read, and again after a fatal error.
 */

/**
 * Scheduling priority (nice value) of a reading process. It gets about a third of the processor time that a busy
 * serving process gets.
 */
const readerPriority = 5;

const [, , url = ''] = process.argv;

try {
  // The serving process needs the higher priority, because it accepts connections and forwards the results of reads.
  setPriority(readerPriority);
} catch {
  // Ignore a lack of permission: both processes then share the processor equally.
}

let opening: Promise<StoreReader> | null = null;

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
    return forPage(view);
  }
  if (!accountStoreMethods.includes(method)) throw new StoreError('invalid_query', `unknown read method ${method}`);
  const value = await (reader[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
  if (method !== 'readAccount') return value;
  return boundedChunk(value as AccountChunk);
}

/**
 * Truncates the texts of a view that the page does not show in full, before the view is sent to the serving process.
 */
function forPage(view: AccountView): AccountView {
  return {
    ...view,
    parts: view.parts.map((part) => ({ ...part, rows: part.rows.map(shortened) })),
    tally: { ...view.tally, values: view.tally.values.filter(({ value }) => value === cut(value)) },
    definitions: new Map(
      [...view.definitions].map(([labeler, { byValue, ...rest }]) => [
        labeler,
        { ...rest, byValue: new Map([...byValue].map(([value, one]) => [cut(value), shortenedDefinition(one)])) },
      ]),
    ),
  };
}

function shortenedDefinition({ name, description, lang }: Definition): Definition {
  return { name: cut(name), description: cut(description), lang };
}

async function answer(question: ReadQuestion): Promise<ReadAnswer> {
  const { id } = question;
  try {
    return { id, ok: true, value: await read(await opened(), question) };
  } catch (error) {
    const code = error instanceof StoreError ? error.code : 'failed';
    const isUnusable = code === 'failed' || code === 'not_a_store' || code === 'unreachable' || storeErrors[code].fatal;
    if (isUnusable) await release();
    return { id, ok: false, code, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the open store, opening it first if necessary. Concurrent reads share one store. */
function opened(): Promise<StoreReader> {
  opening ??= openStoreReader(url);
  return opening;
}

async function release(): Promise<void> {
  const closing = opening;
  opening = null;
  // Discard the store even if opening or closing it failed.
  await closing?.then((store) => store.close()).catch(() => undefined);
}

process.on('message', (question: ReadQuestion) => {
  // Ignore errors: the serving process may have exited.
  void answer(question).then((told) => process.send?.(told, undefined, undefined, () => undefined));
});
// Ignore signals that are sent to the process group: only the serving process may end a reading process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
