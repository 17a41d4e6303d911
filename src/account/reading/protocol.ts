import type { StoreErrorCode } from '../../store/errors.ts';
import type { Observation } from '../../store/port.ts';
import { type AccountStore, type AccountStoreMethod, accountStoreMethods } from '../account-store.ts';
import type { AccountView, ViewQuery } from '../page/view.ts';

/** What a reading process answers: the reads of the store, and all that a page shows in one of its own. */
export interface AccountReads extends AccountStore {
  /** Reads what the page of an account shows, with what is known of the labelers kept for seconds between pages. */
  view(asked: ViewQuery): Promise<AccountView | 'out_of_window'>;
}

/** The names of all of them. */
export const accountReads = [...accountStoreMethods, 'view'] as const satisfies readonly (keyof AccountReads)[];

/** What the serving process asks of a reading process: one read by its name. */
export interface ReadQuestion {
  readonly id: number;
  readonly method: AccountStoreMethod | 'view';
  readonly args: readonly unknown[];
}

/** What it is told: the value, or the store's own refusal. */
export type ReadAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: StoreErrorCode | 'failed'; readonly why: string };

/** An observation without what this surface hands to nobody: the signature's bytes and unnamed fields. */
export function withoutBytes({ label, ...rest }: Observation): Observation {
  const { sig: _sig, extra: _extra, ...texts } = label;
  return { ...rest, label: texts };
}
