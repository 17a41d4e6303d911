import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import { originTitles } from '../../web/format.ts';
import type { AccountStore } from '../account-store.ts';

/** Texts for observations that are not live: a banner above the page, and a prefix of its title. */
export interface OriginWords {
  readonly banner: string;
  readonly title: string;
}

const words: Readonly<Record<Origin, OriginWords | null>> = {
  live: null,
  simulated: {
    banner: 'These observations come from a simulated network. They say nothing about the real one.',
    title: originTitles.simulated,
  },
  sample: {
    banner: 'These observations come from a bundled sample. They say nothing about the network now.',
    title: originTitles.sample,
  },
};

/** Mark on every page of a store without live observations. */
export interface OriginMark {
  /** As far as it is known; null for live ones. */
  readonly words: OriginWords | null;
  /** True once the store was read: until then no page may show its content. */
  readonly known: boolean;
  /** Asks the store, unless it is known; a store says once and for all that it is not live. */
  learn(store: AccountStore): Promise<void>;
}

/** Nothing is known before the first look. */
export function originMark(): OriginMark {
  let found: OriginWords | null = null;
  let known = false;
  return {
    get words() {
      return found;
    },
    get known() {
      return known;
    },
    async learn(store) {
      found ??= words[await storeOrigin(store)];
      known = true;
    },
  };
}
