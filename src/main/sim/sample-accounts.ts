import type { ReceivedLabel } from '../../store/label.ts';
import { splitUri, targetOf } from '../../store/subject.ts';

/** An account of the simulated network whose labels show features of the account page. */
export interface SampleAccount {
  readonly did: string;
  /** Description of what the account's labels show. */
  readonly shows: string;
}

/** Selects, from a history, the accounts whose labels are worth showing. */
export interface SampleAccounts {
  /** Counts an accepted label. */
  add(label: Pick<ReceivedLabel, 'uri' | 'src' | 'neg'>): void;
  /** Returns one account of each kind that exists. The first account shows every feature of an account page. */
  choose(): SampleAccount[];
}

interface Seen {
  readonly did: string;
  account: number;
  post: number;
  record: number;
  removed: number;
  readonly labelers: Set<string>;
}

/**
 * Kinds of sample accounts, in the order in which they are chosen. The representative of a kind is the account with
 * the largest value of `most` among those for which `has` returns true. No account represents two kinds.
 */
const kinds: readonly { readonly shows: string; has(seen: Seen): boolean; most(seen: Seen): number }[] = [
  {
    shows: 'labels on the account itself and on posts, and a removal',
    has: ({ account, post, removed }) => account > 0 && post > 0 && removed > 0,
    most: ({ account, post, record }) => Math.min(account, 5) * 1e6 + Math.min(record, 1) * 1e5 + post,
  },
  { shows: 'many labels on posts', has: ({ post }) => post > 20, most: ({ post }) => post },
  {
    shows: 'labels of several labelers',
    has: ({ labelers }) => labelers.size > 1,
    most: ({ labelers, account, post, record }) => labelers.size * 1e6 - account - post - record,
  },
];

/** A DID that has no labels, because no generated DID has this form. */
const unlabelled = 'did:plc:nobodyeverlabelledthisac';

/** Creates an empty selection. Its memory grows with the number of accounts. */
export function sampleAccounts(): SampleAccounts {
  const seen = new Map<string, Seen>();
  return {
    add({ uri, src, neg }) {
      const did = splitUri(uri)?.did;
      if (did === undefined) return;
      const counts = seen.get(did) ?? { did, account: 0, post: 0, record: 0, removed: 0, labelers: new Set() };
      counts[targetOf(uri)] += 1;
      if (neg) counts.removed += 1;
      counts.labelers.add(src);
      seen.set(did, counts);
    },
    choose() {
      const chosen: SampleAccount[] = [];
      for (const { shows, has, most } of kinds) {
        const left = [...seen.values()].filter((one) => has(one) && !chosen.some(({ did }) => did === one.did));
        const [best] = left.sort((one, other) => most(other) - most(one) || (one.did < other.did ? -1 : 1));
        if (best) chosen.push({ did: best.did, shows });
      }
      return [...chosen, { did: unlabelled, shows: 'none observed' }];
    },
  };
}
