import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { waitForDistantHosts } from '../../ops/process.ts';
import { StoreError, storeErrors } from '../../store/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { Observation, StoreReader } from '../../store/port.ts';
import { type RowsQuery, readExport } from '../export/rows.ts';
import { accountStoreMethods } from '../query/account-store.ts';
import type { Definition } from '../view/definitions.ts';
import { type AccountView, createViewReader, type ViewQuery } from '../view/view.ts';
import type { ReadAnswer, ReadQuestion } from './reading-child.ts';

/**
 * Process that reads the store. The serving process may kill this process at any time, because a running query cannot
 * be interrupted otherwise. The process opens the store at the first read, and again after an error that makes the
 * open store unusable.
 */

/**
 * Scheduling priority (nice value) of a reading process. With this value, a reading process gets about a third as
 * much processor time as a busy serving process.
 */
const readerPriority = 5;

const [, , url = ''] = process.argv;

try {
  // The serving process needs the higher priority, because it accepts connections and forwards the results of reads.
  setPriority(readerPriority);
} catch {
  // Ignore a lack of permission: both processes then share the processor equally.
}

waitForDistantHosts();

let opening: Promise<StoreReader> | null = null;

/** Reads the views of the current store, of which it caches states and definitions. */
let readView = createViewReader(() => performance.now());

async function read(reader: StoreReader, { method, args }: ReadQuestion): Promise<unknown> {
  if (method === 'view') {
    const view = await readView(reader, args[0] as ViewQuery);
    if (view === 'out_of_window') return view;
    return forPage(view);
  }
  if (method === 'readExport') return readExport(reader, args[0] as RowsQuery);
  if (!accountStoreMethods.includes(method)) throw new StoreError('invalid_query', `unknown read method ${method}`);
  return (reader[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}

/**
 * Reduces a view before it is sent to the serving process: truncates strings that the page does not show in full, and
 * omits the counts of label values that are too long.
 */
function forPage(view: AccountView): AccountView {
  return {
    ...view,
    parts: view.parts.map((part) => ({ ...part, rows: part.rows.map(shortened) })),
    tally: { ...view.tally, values: view.tally.values.filter(({ value }) => value === cut(value)) },
    definitions: new Map(
      [...view.definitions].map(([labeler, byValue]) => [
        labeler,
        new Map([...byValue].map(([value, one]) => [cut(value), shortenedDefinition(one)])),
      ]),
    ),
  };
}

function shortenedDefinition({ name, description, lang }: Definition): Definition {
  return { name: cut(name), description: cut(description), lang };
}

/**
 * Maximum length in characters of a string in the data of a page. A page shows fewer characters, so it truncates such
 * a string again and marks the truncation.
 */
const maxPageCharacters = 1_100;

/**
 * Returns an observation with all strings truncated to `maxPageCharacters`, and without the fields that this surface
 * never publishes: the signature bytes and unknown fields.
 */
function shortened({ label: { sig: _sig, extra: _extra, ...label }, ...rest }: Observation): Observation {
  const { cid, exp } = label;
  return {
    ...rest,
    label: {
      ...label,
      uri: cut(label.uri),
      val: cut(label.val),
      cts: cut(label.cts),
      ...(cid === undefined ? {} : { cid: cut(cid) }),
      ...(exp === undefined ? {} : { exp: cut(exp) }),
    },
  };
}

/** Truncates a string to `maxPageCharacters`. Replaces half of a surrogate pair at the end with U+FFFD. */
function cut(text: string): string {
  return text.length <= maxPageCharacters ? text : text.slice(0, maxPageCharacters).toWellFormed();
}

async function answer(question: ReadQuestion): Promise<ReadAnswer> {
  const { id } = question;
  const used = opened();
  try {
    return { id, ok: true, value: await read(await used, question) };
  } catch (error) {
    const code = error instanceof StoreError ? error.code : 'failed';
    const isUnusable = code === 'failed' || code === 'not_a_store' || code === 'unreachable' || storeErrors[code].fatal;
    if (isUnusable) release(used);
    return { id, ok: false, code, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the open store, opening it first if necessary. Concurrent reads share one store. */
function opened(): Promise<StoreReader> {
  if (opening !== null) return opening;
  const made = openStoreReader(url);
  opening = made;
  // After any failure, the next read opens the store again.
  made.catch(() => forget(made));
  return made;
}

/** Closes a store that a read found unusable, unless another read has already closed it. */
function release(used: Promise<StoreReader>): void {
  if (!forget(used)) return;
  void used.then((store) => store.close()).catch(() => undefined);
}

/** Lets the next read open the store again. Returns false and does nothing if `used` is no longer the current store. */
function forget(used: Promise<StoreReader>): boolean {
  const isCurrent = opening === used;
  if (isCurrent) {
    opening = null;
    readView = createViewReader(() => performance.now());
  }
  return isCurrent;
}

process.on('message', (question: ReadQuestion) => {
  // Ignore errors: the serving process may have exited.
  void answer(question).then((told) => process.send?.(told, undefined, undefined, () => undefined));
});
// Ignore signals that are sent to the process group: only the serving process may end a reading process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
