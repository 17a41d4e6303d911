import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import type { AccountStore } from '../account-store.ts';

const banners: Readonly<Record<Origin, string | null>> = {
  live: null,
  simulated: 'These observations come from a simulated network. They say nothing about the real one.',
  sample: 'These observations come from a bundled sample. They say nothing about the network now.',
};

/** What stands above every page of a store that holds no live observations. */
export interface OriginBanner {
  /** As far as it is known. */
  readonly text: string | null;
  /** Asks the store, unless it is known; a store says once and for all that it is not live. */
  learn(store: AccountStore): Promise<void>;
}

/** Nothing is known before the first look. */
export function originBanner(): OriginBanner {
  let text: string | null = null;
  return {
    get text() {
      return text;
    },
    async learn(store) {
      text ??= banners[await storeOrigin(store)];
    },
  };
}
