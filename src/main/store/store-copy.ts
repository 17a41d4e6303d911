import { setTimeout as wait } from 'node:timers/promises';
import { changeDenyFile, requireDenyList } from '../../labels/operator/deny-file.ts';
import { OperatorError } from '../../ops/errors.ts';
import { type CopyEvent, copyStore } from '../../store/copy/copy-store.ts';
import { StoreError } from '../../store/errors.ts';
import {
  askWriterToStop,
  companionFolder,
  openCopySource,
  openCopyTarget,
  parseStoreUrl,
  storeProcesses,
} from '../../store/open.ts';
import { initializeStore } from '../../store/postgres/schema/migrate.ts';
import { opened } from '../labels/labels-action.ts';

/** Interval between two checks of a source that an instrument is writing, in milliseconds. */
const followMs = 1_000;
/** Exit code of `--once` if an instrument is still writing the source. */
export const stillWritten = 3;

/** Options for `almanac store copy`. */
interface StoreCopyOptions {
  readonly from: string;
  readonly to: string;
  /** Directory that contains the denials of a store in a database. */
  readonly state: string;
  readonly once: boolean;
  readonly handOver: boolean;
}

/**
 * Copies a store, prints the progress, and resolves with the exit code. Rejects with OperatorError if the copy cannot
 * be completed.
 */
export async function copyStores(options: StoreCopyOptions, print: (line: string) => void): Promise<number> {
  const { from, to, state, once, handOver } = options;
  // Validate the URLs before opening a store.
  parseStoreUrl(to);
  if (handOver && parseStoreUrl(from).kind === 'postgres') {
    throw new OperatorError(
      '--hand-over requires a store in SQLite, because it can stop only an instrument on this machine; ' +
        'stop the instrument that writes to PostgreSQL yourself',
    );
  }
  try {
    const source = await openCopySource(from);
    try {
      const { epoch } = await source.look();
      const target = await openCopyTarget(to, epoch.generationId, Date.now() * 1000);
      try {
        const isComplete = await copyStore({
          ...{ source, target, once },
          report: copyLines(print, () => performance.now()),
          wait: () => wait(followMs),
          beforeComplete: () => copyDenials(companionFolder(from, state), companionFolder(to, state)),
          ...(handOver && { beforeFreeze: (attempts) => stopWriter(from, attempts, print) }),
        });
        if (!isComplete) {
          print('every row is copied, but the instrument is still running: stop it and repeat this command');
          return stillWritten;
        }
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`the copy has not finished: ${error.message}`);
  }
  print(`${to} is complete and equal to ${from}; no instrument can write to the original any more`);
  print(`start almanac labels --store ${to}, and restart almanac account with the same --store`);
  return 0;
}

/**
 * Makes a store writable again after it was copied elsewhere. Rejects with OperatorError if an instrument is writing
 * the store.
 */
export async function reopenStore(url: string, print: (line: string) => void): Promise<number> {
  try {
    const source = await openCopySource(url);
    try {
      if (!(await source.freeze()))
        throw new OperatorError('an instrument is writing this store; there is nothing to do');
      const isReopened = await source.reopen();
      print(isReopened ? `${url} can be written again; do not also write to its copy` : `${url} is already writable`);
    } finally {
      await source.close();
    }
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`the store ${url} cannot be written again: ${error.message}`);
  }
}

/**
 * Copies the list of denied labelers to the directory that accompanies the copy. Replaces a list that is already there,
 * for example that of an interrupted copy.
 */
async function copyDenials(from: string, to: string): Promise<void> {
  if (from === to) return;
  const denied = await requireDenyList(from);
  const former = await requireDenyList(to);
  if (denied.entries.length + former.entries.length > 0) await changeDenyFile(to, () => denied);
}

/**
 * Asks the instrument that is writing the source to stop once every row is copied. Does nothing after the first attempt
 * or if no instrument is writing. Rejects with OperatorError if the store has a standby, or if the instrument cannot be
 * identified.
 */
async function stopWriter(from: string, attempts: number, print: (line: string) => void): Promise<void> {
  if (attempts > 0) return;
  const { writer, standby } = await storeProcesses(from);
  if (standby !== null)
    throw new OperatorError('the store has a standby, which would become its writer: stop it first');
  if (writer === null) return;
  print(`every row is copied: stopping the instrument (${writer.name})`);
  if (!(await askWriterToStop(from, writer))) throw new OperatorError('the instrument cannot be identified: stop it');
  await wait(followMs);
}

/** Minimum time between two progress lines, in milliseconds. */
const lineMs = 5_000;

/** Returns a callback that prints the progress of a copy. `now` is a monotonic clock in milliseconds. */
function copyLines(print: (line: string) => void, now: () => number): (event: CopyEvent) => void {
  const started = now();
  let [total, before, copied, days] = [0, 0, 0, 0];
  let printed = started;

  function progress(): string {
    const done = before + copied;
    const all = Math.max(total, done);
    const rate = copied / Math.max(0.001, (now() - started) / 1000);
    const left = rate > 0 && all > done ? `, ${duration((all - done) / rate)} left` : '';
    return `copied ${done} of ${all} rows, ${days} days verified, ${Math.round(rate)} rows/s${left}`;
  }

  return (event) => {
    switch (event.kind) {
      case 'begun':
        [total, before] = [event.rows, event.copied];
        print(event.copied > 0 ? `resuming: ${event.copied} of ${event.rows} rows are copied` : `${event.rows} rows`);
        return;
      case 'copied':
        copied += event.rows;
        if (now() - printed < lineMs) return;
        printed = now();
        print(progress());
        return;
      case 'verified':
        days += 1;
        print(`${event.day}: ${event.rows} rows are equal, digest ${event.digest.slice(0, 16)}`);
        return;
      case 'again':
        print(`${event.day} is copied again, because some of its rows were removed`);
        return;
      case 'dropped':
        print(`${event.day} has expired and is not part of the copy`);
        return;
      case 'following':
        print(`${progress()}; every row is copied, and new rows follow until the instrument stops`);
        return;
      case 'retrying':
        print(`retrying: ${event.why}`);
    }
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Creates a store in a database, and prints what the operator does next. */
export async function createStore(
  values: { readonly store: string; readonly writerRole: string; readonly readerRole: string },
  print: (line: string) => void,
): Promise<number> {
  const place = parseStoreUrl(values.store);
  if (place.kind !== 'postgres') {
    throw new OperatorError(
      'store init is for PostgreSQL: almanac labels creates a store in a directory automatically',
    );
  }
  const roles = { writer: values.writerRole, reader: values.readerRole };
  await opened(values.store, () => initializeStore(place, roles, Date.now() * 1000));
  print(`the schema ${place.schema} contains a store; ${roles.writer} writes it, and ${roles.reader} reads it`);
  print(`neither role has a password yet: set them (\\password ${roles.writer}), or let pg_hba.conf authenticate them`);
  return 0;
}
