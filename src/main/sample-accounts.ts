import { splitUri } from '../store/subject.ts';

/** Accounts whose observed labels are worth a look, chosen from those that a history holds. */
export interface SampleAccounts {
  /** A label about this account or record was accepted. */
  add(uri: string): void;
  /** DIDs: the one with most labels, then those whose account and records were both labelled, the most first. */
  choose(count: number): string[];
}

/** Begins to count; what is kept grows with the number of accounts. */
export function sampleAccounts(): SampleAccounts {
  const seen = new Map<string, { account: number; records: number }>();
  return {
    add(uri) {
      const parts = splitUri(uri);
      if (parts === null) return;
      const counts = seen.get(parts.did) ?? { account: 0, records: 0 };
      counts[parts.kind === 'account' ? 'account' : 'records'] += 1;
      seen.set(parts.did, counts);
    },
    choose(count) {
      const ranked = [...seen]
        .map(([did, { account, records }]) => ({ did, both: account > 0 && records > 0, total: account + records }))
        .sort((one, other) => other.total - one.total || (one.did < other.did ? -1 : 1));
      const [most] = ranked;
      const mixed = ranked.filter(({ did, both }) => both && did !== most?.did);
      return [...(most ? [most] : []), ...mixed].slice(0, count).map(({ did }) => did);
    },
  };
}
