import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import { originTitles } from '../../web/format.ts';
import type { AccountStore } from '../query/account-store.ts';

/** Page texts for observations that are not live: a banner above the page, and a prefix of its title. */
export interface OriginText {
  readonly banner: string;
  readonly title: string;
}

const words: Readonly<Record<Origin, OriginText | null>> = {
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

/** Mark of the origin on every page of a store without live observations. */
export interface OriginMark {
  /** Texts for the store's origin, or null for a live store, and while the origin is unknown. */
  readonly words: OriginText | null;
  /** True after the origin was read; until then no page may show the store's content. */
  readonly known: boolean;
  /** Reads the store's origin unless it is known; the origin of a store never changes. */
  learn(store: AccountStore): Promise<void>;
}

/** Creates an origin mark whose origin is unknown until `learn` is called. */
export function originMark(): OriginMark {
  let found: OriginText | null = null;
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
