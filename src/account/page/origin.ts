import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import type { AccountStore } from '../query/account-store.ts';

/** Origin of the store's data, as marked on the pages. Only a store without live observations has a mark. */
export interface OriginMark {
  /** Origin of the store, or null if the store is live or its origin is not known yet. */
  readonly origin: Exclude<Origin, 'live'> | null;
  /** True once the origin has been read. Until then, no page may show content of the store. */
  readonly known: boolean;
  /** Reads the origin from the store. One call is enough, because the origin of a store never changes. */
  learn(store: AccountStore): Promise<void>;
}

/** Creates an origin mark. The origin is unknown until `learn` has resolved. */
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
