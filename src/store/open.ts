import { OperatorError } from '../ops/errors.ts';
import type { StoreReader, StoreWriter } from './port.ts';
import type { FileEvent } from './sqlite/base/file-event.ts';
import { openSqliteReader } from './sqlite/read/reader.ts';
import { inspectStore, type StoreInspection } from './sqlite/repair/inspect.ts';
import { type SetAside, setStoreAside } from './sqlite/repair/new-epoch.ts';
import { type RepairOptions, type RepairReport, repairStore } from './sqlite/repair/repair.ts';
import { type Restored, type RestoreOptions, restoreStore } from './sqlite/repair/restore.ts';
import { openSqliteWriter, type SqliteWriterOptions } from './sqlite/write/writer.ts';

export type { FileEvent };

/** Location of a store, parsed from its URL. */
export interface StorePlaceSqlite {
  readonly kind: 'sqlite';
  readonly folder: string;
}

/** Parses a store URL, `sqlite:DIR`. Throws an `OperatorError` that states the expected form. */
export function parseStoreUrl(url: string): StorePlaceSqlite {
  const folder = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '';
  // `sqlite://x` would be a directory named by a host, which is probably a typing error for `sqlite:/x`.
  if (folder === '' || folder.startsWith('//')) {
    throw new OperatorError(`${url} is not a store: use sqlite:DIR, with a directory`);
  }
  return { kind: 'sqlite', folder };
}

/** Opens the store at a URL for writing. `StoreWriter` documents the errors, `SqliteWriterOptions` the options. */
export function openStoreWriter(url: string, options: Omit<SqliteWriterOptions, 'folder'>): StoreWriter {
  return openSqliteWriter({ ...options, folder: parseStoreUrl(url).folder });
}

/** Opens the store at a URL for reading. */
export function openStoreReader(url: string): StoreReader {
  return openSqliteReader(parseStoreUrl(url).folder);
}

/**
 * Moves the files of the store at a URL to another directory, so that the next writer begins a new epoch; see
 * `setStoreAside`.
 */
export function setAside(url: string, at: Date): SetAside | null {
  return setStoreAside(parseStoreUrl(url).folder, at);
}

/** Restores the store at a URL from a directory; see `restoreStore`. */
export function restore(url: string, options: Omit<RestoreOptions, 'folder'>): Promise<Restored> {
  return restoreStore({ ...options, folder: parseStoreUrl(url).folder });
}

/** Repairs the store at a URL; see `repairStore`. */
export function repair(url: string, options: Omit<RepairOptions, 'folder'>): AsyncGenerator<RepairReport> {
  return repairStore({ ...options, folder: parseStoreUrl(url).folder });
}

/** Inspects the store at a URL without changing it; see `inspectStore`. */
export function inspect(url: string): StoreInspection {
  return inspectStore(parseStoreUrl(url).folder);
}
