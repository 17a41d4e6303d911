import type { StoreErrorCode } from '../../store/errors.ts';
import { labelBytes } from '../../store/label.ts';
import type { AccountChunk, Observation } from '../../store/port.ts';
import { type AccountStore, type AccountStoreMethod, accountStoreMethods } from '../query/account-store.ts';
import type { AccountView, ViewQuery } from '../view/view.ts';

/** Calls that a reading process serves: the reads of the store, and one read for everything that a page shows. */
export interface AccountReads extends AccountStore {
  /** Reads what the page of an account shows, with what is known of the labelers kept for seconds between pages. */
  view(asked: ViewQuery): Promise<AccountView | 'out_of_window'>;
}

/** The names of all of them. */
export const accountReads = [...accountStoreMethods, 'view'] as const satisfies readonly (keyof AccountReads)[];

/** A request to a reading process: one read by its name. */
export interface ReadQuestion {
  readonly id: number;
  readonly method: AccountStoreMethod | 'view';
  readonly args: readonly unknown[];
}

/** A response of a reading process: the value, or the store's error. */
export type ReadAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: StoreErrorCode | 'failed'; readonly why: string };

/** Bytes of labels in one chunk: with them a page of an export is bounded by more than the number of its rows. */
export const maxChunkBytes = 512 * 1024;

/** A chunk as it leaves the reading process: cut where its labels are larger than a page may be, and never empty for it. */
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

/** Characters of a text that a page reads: it shows fewer, and says that it does. */
const maxPageCharacters = 1_100;

/** An observation for a page, its texts no longer than a page reads them. */
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

/** The text, or its beginning. */
export function cut(text: string): string {
  return text.length <= maxPageCharacters ? text : text.slice(0, maxPageCharacters).toWellFormed();
}

/** An observation without the fields that this surface never publishes: the signature's bytes and unnamed fields. */
export function withoutBytes({ label, ...rest }: Observation): Observation {
  const { sig: _sig, extra: _extra, ...texts } = label;
  return { ...rest, label: texts };
}
