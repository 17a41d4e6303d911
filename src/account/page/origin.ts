import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import type { AccountStore } from '../query/account-store.ts';

/** Mark of the origin on every page of a store without live observations. */
export interface OriginMark {
  /** Origin of a store without live observations, or null for a live store, and while the origin is unknown. */
  readonly origin: Exclude<Origin, 'live'> | null;
  /** True after the origin was read; until then no page may show the store's content. */
  readonly known: boolean;
  /** Reads the store's origin unless it is known; the origin of a store never changes. */
  learn(store: AccountStore): Promise<void>;
}

/** Creates an origin mark whose origin is unknown until `learn` is called. */
export function originMark(): OriginMark {
  let found: Exclude<Origin, 'live'> | null = null;
  let known = false;
  return {
    get origin() {
      return found;
    },
    get known() {
      return known;
    },
    async learn(store) {
      const origin = await storeOrigin(store);
      found ??= origin === 'live' ? null : origin;
      known = true;
    },
  };
}
