import type { StoreErrorCode } from '../../store/errors.ts';
import { labelBytes } from '../../store/label.ts';
import type { AccountChunk, Observation } from '../../store/port.ts';
import { type AccountStore, type AccountStoreMethod, accountStoreMethods } from '../query/account-store.ts';
import type { AccountView, ViewQuery } from '../view/view.ts';

/** Reads that a reading process executes: methods of the store, and `view` for all data of a page. */
export interface AccountReads extends AccountStore {
  /** Reads all data of an account's page. Data about labelers may come from a cache. */
  view(asked: ViewQuery): Promise<AccountView | 'out_of_window'>;
}

/** Names of all reads that a reading process executes. */
export const accountReads = [...accountStoreMethods, 'view'] as const satisfies readonly (keyof AccountReads)[];

/** Request to a reading process for one read. */
export interface ReadQuestion {
  readonly id: number;
  readonly method: AccountStoreMethod | 'view';
  readonly args: readonly unknown[];
}

/** Response of a reading process: the result of the read, or its error. */
export type ReadAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: StoreErrorCode | 'failed'; readonly why: string };

/** Maximum size of the labels in one chunk, in bytes. It limits an export page in addition to the number of rows. */
export const maxChunkBytes = 512 * 1024;

/** Removes unpublished fields from a chunk, and limits its labels to `maxChunkBytes`, but keeps at least one row. */
export function boundedChunk({ rows, next }: AccountChunk): AccountChunk {
  const kept: Observation[] = [];
  let bytes = 0;
  for (const row of rows) {
    const own = withoutBytes(row);
    bytes += labelBytes(own.label);
    if (kept.length > 0 && bytes > maxChunkBytes) return { rows: kept, next: kept.at(-1)?.observedAt ?? next };
    kept.push(own);
  }
  return { rows: kept, next };
}

/**
 * Maximum length in characters of a string in the data of a page. A page shows fewer characters, so it truncates such
 * a string again and marks the truncation.
 */
const maxPageCharacters = 1_100;

/** Returns an observation with all strings truncated to `maxPageCharacters`. */
export function shortened(observation: Observation): Observation {
  const { label, ...rest } = withoutBytes(observation);
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

/**
 * Returns an observation without the fields that this surface never publishes: the signature bytes and unknown fields.
 */
export function withoutBytes({ label, ...rest }: Observation): Observation {
  const { sig: _sig, extra: _extra, ...texts } = label;
  return { ...rest, label: texts };
}
