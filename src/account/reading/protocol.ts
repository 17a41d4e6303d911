import type { StoreErrorCode } from '../../store/errors.ts';
import type { Observation } from '../../store/port.ts';
import type { AccountStoreMethod } from '../account-store.ts';

/** What the serving process asks of a reading process: one read by its name. */
export interface ReadQuestion {
  readonly id: number;
  readonly method: AccountStoreMethod;
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
