import type { StoreErrorCode } from '../../store/errors.ts';
import type { Observation } from '../../store/port.ts';
import type { ExportRefusal, ReadRows, RowsQuery } from '../export/rows.ts';
import { type AccountStore, type AccountStoreMethod, accountStoreMethods } from '../query/account-store.ts';
import type { AccountView, ViewQuery } from '../view/view.ts';

/**
 * Reads that a reading process executes: methods of the store, `view` for all data of a page, and `readExport` for the
 * next rows of an export.
 */
export interface AccountReads extends AccountStore {
  /** Reads all data of an account's page. Data about labelers may come from a cache. */
  view(asked: ViewQuery): Promise<AccountView | 'out_of_window'>;
  /** See `readExport`. Only the bytes of the rows are passed to the serving process. */
  readExport(asked: RowsQuery): Promise<ReadRows | ExportRefusal>;
}

/** Names of all reads that a reading process executes. */
export const accountReads = [
  ...accountStoreMethods,
  'view',
  'readExport',
] as const satisfies readonly (keyof AccountReads)[];

/** Request to a reading process for one read. */
export interface ReadQuestion {
  readonly id: number;
  readonly method: AccountStoreMethod | 'view' | 'readExport';
  readonly args: readonly unknown[];
}

/** Response of a reading process: the result of the read, or its error. */
export type ReadAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: StoreErrorCode | 'failed'; readonly why: string };

/**
 * Maximum length in characters of a string in the data of a page. A page shows fewer characters, so it truncates such
 * a string again and marks the truncation.
 */
const maxPageCharacters = 1_100;

/**
 * Returns an observation with all strings truncated to `maxPageCharacters`, and without the fields that this surface
 * never publishes: the signature bytes and unknown fields.
 */
export function shortened({ label: { sig: _sig, extra: _extra, ...label }, ...rest }: Observation): Observation {
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
export function cut(text: string): string {
  return text.length <= maxPageCharacters ? text : text.slice(0, maxPageCharacters).toWellFormed();
}
