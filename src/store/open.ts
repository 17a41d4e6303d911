import { join } from 'node:path';
import { OperatorError } from '../ops/errors.ts';
import { keptIdentitiesName } from './common/kept-identities.ts';
import type { CopySource, CopyTarget } from './copy/parts.ts';
import type { StoreReader, StoreWriter } from './port.ts';
import { isPostgresUrl, type PostgresPlace, parsePostgresUrl, postgresUrlForm } from './postgres/base/place.ts';
import type { PostgresWriterOptions } from './postgres/write/writer.ts';
import type { FileEvent } from './sqlite/base/files.ts';
import { openSqliteReader } from './sqlite/read/reader.ts';
import {
  inspectStore,
  type RepairOptions,
  type RepairReport,
  repairStore,
  type SetAside,
  setStoreAside,
} from './sqlite/repair/repair.ts';
import { type Restored, type RestoreOptions, restoreStore } from './sqlite/repair/restore.ts';
import { openSqliteStandby, type SqliteStandbyOptions, sqliteProcesses } from './sqlite/standby/standby.ts';
import { openSqliteWriter, type SqliteWriterOptions } from './sqlite/write/writer.ts';
import type { StoreInspection, StoreProcess, StoreProcesses, StoreStandby } from './standby/standby.ts';

export type { FileEvent };

/** Location of a store in a directory. */
interface StorePlaceSqlite {
  readonly kind: 'sqlite';
  readonly folder: string;
}

/** Location of a store, parsed from its URL. */
type StorePlace = StorePlaceSqlite | PostgresPlace;

/** Options of an instrument's writer. */
interface InstrumentOptions {
  /**
   * Directory of the files that accompany a store in PostgreSQL (see `companionFolder`), in which its writer keeps the
   * identities of labels for its next start. Absent if each start reads them from the rows.
   */
  readonly companions?: string;
  /** Called once, when a process asks the writer to stop. The writer of an embedded store receives SIGTERM instead. */
  readonly asked?: () => void;
}

/** Parses a store URL. Throws an `OperatorError` that states the expected form. */
export function parseStoreUrl(url: string): StorePlace {
  if (isPostgresUrl(url)) return parsePostgresUrl(url);
  const folder = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '';
  // In `sqlite://x`, the directory name is in the host part. Such a URL is probably a typing error for `sqlite:/x`.
  if (folder === '' || folder.startsWith('//')) {
    // Do not repeat a URL with a user or parameters in the message: the URL may contain a password.
    const name = /[@?]/.test(url) ? 'the URL' : url;
    throw new OperatorError(`${name} is not a store URL: use sqlite:DIR for a directory, or ${postgresUrlForm}`);
  }
  return { kind: 'sqlite', folder };
}

/**
 * Returns the directory for files that accompany a store, such as the list of denied labelers: the directory of an
 * embedded store, or `state` for a store in PostgreSQL.
 */
export function companionFolder(url: string, state: string): string {
  const place = parseStoreUrl(url);
  return place.kind === 'sqlite' ? place.folder : join(state);
}

/**
 * Opens the store at a URL for writing. See `StoreWriter` for the errors and `SqliteWriterOptions` for the options.
 * With `markClock`, standby servers of the database can determine how current their data is even if no labels arrive.
 */
export async function openStoreWriter(
  url: string,
  options: Omit<SqliteWriterOptions, 'folder'> & Pick<PostgresWriterOptions, 'markClock'> & InstrumentOptions,
): Promise<StoreWriter> {
  const { asked, companions, markClock, ...others } = options;
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return openSqliteWriter({ ...others, folder: place.folder });
  // The driver is loaded on demand, because most installations use the embedded store.
  const { openPostgresWriter } = await import('./postgres/write/writer.ts');
  const { at, windowDays, generationId, onFile } = options;
  return openPostgresWriter({
    ...{ place, at },
    ...(markClock && { markClock }),
    ...(windowDays !== undefined && { windowDays }),
    ...(generationId && { generationId }),
    ...(asked && { asked }),
    ...(onFile && { onFile }),
    ...(companions !== undefined && { identitiesFile: join(companions, keptIdentitiesName) }),
  });
}

/** Opens the store at a URL as a standby of its writer; see `openSqliteStandby` and `openPostgresStandby`. */
export async function openStoreStandby(
  url: string,
  options: Omit<SqliteStandbyOptions, 'folder'> & Pick<PostgresWriterOptions, 'markClock'> & InstrumentOptions,
): Promise<StoreStandby> {
  const { asked, companions, markClock, ...others } = options;
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return openSqliteStandby({ ...others, folder: place.folder });
  const { openPostgresStandby } = await import('./postgres/standby/standby.ts');
  const { clock, windowDays, onFile } = options;
  return openPostgresStandby({
    ...{ place, clock },
    ...(markClock && { markClock }),
    ...(windowDays !== undefined && { windowDays }),
    ...(asked && { asked }),
    ...(onFile && { onFile }),
    ...(companions !== undefined && { identitiesFile: join(companions, keptIdentitiesName) }),
  });
}

/** Returns the processes that write to the store at a URL or are its standby. */
export async function storeProcesses(url: string): Promise<StoreProcesses> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return sqliteProcesses(place.folder);
  const { postgresProcesses } = await import('./postgres/standby/standby.ts');
  return postgresProcesses(place);
}

/**
 * Asks the writer of the store at a URL to stop. In a database, returns false if another process has become the writer.
 * For an embedded store, sends SIGTERM to `pid`: returns false if `pid` is null, and throws the system error if the
 * process does not exist or this process may not signal it.
 */
export async function askWriterToStop(url: string, { token, pid }: StoreProcess): Promise<boolean> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return pid !== null && process.kill(pid, 'SIGTERM');
  const { askPostgresWriterToStop } = await import('./postgres/standby/standby.ts');
  return askPostgresWriterToStop(place, token);
}

/** Opens the store at a URL for reading. */
export async function openStoreReader(url: string): Promise<StoreReader> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return openSqliteReader(place.folder);
  const { openPostgresReader } = await import('./postgres/read/reader.ts');
  return openPostgresReader(place);
}

/** Inspects the store at a URL without changing it. */
export async function inspect(url: string): Promise<StoreInspection> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return inspectStore(place.folder);
  const { inspectPostgres } = await import('./postgres/standby/standby.ts');
  return inspectPostgres(place);
}

/**
 * Moves the files of the store at a URL to another directory, so that the next writer begins a new epoch; see
 * `setStoreAside`. Throws `OperatorError` for a PostgreSQL store.
 */
export function setAside(url: string, at: Date): SetAside | null {
  return setStoreAside(embeddedFolder(url, 'use another schema in the URL to begin a new epoch'), at);
}

/** Restores the store at a URL from a directory; see `restoreStore`. Throws `OperatorError` for a PostgreSQL store. */
export function restore(url: string, options: Omit<RestoreOptions, 'folder'>): Promise<Restored> {
  return restoreStore({ ...options, folder: embeddedFolder(url, 'restore the database with PostgreSQL tools') });
}

/** Repairs the store at a URL; see `repairStore`. Throws `OperatorError` for a PostgreSQL store. */
export function repair(url: string, options: Omit<RepairOptions, 'folder'>): AsyncGenerator<RepairReport> {
  return repairStore({ ...options, folder: embeddedFolder(url, 'restore the database with PostgreSQL tools') });
}

/**
 * Returns the directory of an embedded store. For a PostgreSQL store, throws an `OperatorError` that gives `instead`
 * as advice.
 */
function embeddedFolder(url: string, instead: string): string {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return place.folder;
  throw new OperatorError(`this command supports only a store in a directory (sqlite:DIR); ${instead}`);
}

/** Opens the store at a URL as the source of a copy; see `CopySource`. */
export async function openCopySource(url: string): Promise<CopySource> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return (await import('./sqlite/copy/source.ts')).openSqliteSource(place.folder);
  const { openPostgresSource } = await import('./postgres/copy/source.ts');
  return openPostgresSource(place);
}

/**
 * Opens the store at a URL as the target of a copy, or resumes the copy in it; see `CopyTarget`. `generation` is the
 * generation of the source; `at` is the current time in microseconds.
 */
export async function openCopyTarget(url: string, generation: string, at: number): Promise<CopyTarget> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite')
    return (await import('./sqlite/copy/target.ts')).openSqliteTarget(place.folder, generation);
  const { openPostgresTarget } = await import('./postgres/copy/target.ts');
  return openPostgresTarget(place, generation, at);
}
