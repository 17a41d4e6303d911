import type { Origin } from '../contract/vocabulary.ts';
import { storeOrigin } from '../store/origin.ts';
import type { AccountStore } from './account-store.ts';

/** What stands above every page over a store whose observations were not made of the live network. */
const originBanners: Record<Exclude<Origin, 'live'>, string> = {
  simulated: 'These observations come from a simulated network. They say nothing about any real account.',
  sample: 'These observations come from a bundled sample. They say nothing about the network now.',
};

/** Where the observations of the store come from, as far as it was read. */
export interface PageOrigin {
  /** Reads it: before anything of the store is shown. */
  learn(store: AccountStore): Promise<void>;
  /** Whether it was read once. */
  readonly known: boolean;
  /** The line above everything else; null over live observations, and before the store was read. */
  readonly banner: string | null;
}

/** Remembers the last answer of the store, for pages that show nothing of it: the form and the refusals. */
export function rememberOrigin(): PageOrigin {
  let origin: Origin | null = null;
  return {
    async learn(store) {
      origin = await storeOrigin(store);
    },
    get known() {
      return origin !== null;
    },
    get banner() {
      return origin === null || origin === 'live' ? null : originBanners[origin];
    },
  };
}
