import { networkTiers } from '../../http/connections/network-tiers.ts';
import { saltedMark } from './salted-mark.ts';

/**
 * Maximum number of remembered look-ups of all clients. Above this number, the look-ups of the oldest client are
 * discarded.
 */
const maxRemembered = 1_000_000;

/** Maximum number of networks whose look-ups are counted. Above this number, the oldest network is discarded. */
const maxNetworks = 100_000;

const dayMs = 86_400_000;

/**
 * A limit on the number of distinct accounts that a client may look up per UTC day. Look-ups are kept only in memory,
 * as hashes with a salt that is discarded at the end of the day, so that the look-ups of a client cannot be recovered.
 */
export interface ClientBudget {
  /**
   * Returns null and counts the look-up if the client may look up the account now; otherwise returns the number of
   * seconds to wait. `now` is in milliseconds since 1970.
   */
  waitFor(client: string, account: string, now: number): number | null;
}

/**
 * Creates a budget of `accounts` distinct accounts per client and day, or an unlimited budget if `accounts` is null.
 * The clients of an IPv6 site also share a larger limit, because one site has up to 65,536 /64 networks.
 */
export function createClientBudget(accounts: number | null): ClientBudget {
  let today = Number.NaN;
  let mark = saltedMark();
  let remembered = 0;
  const asked = new Map<string, Set<string>>();
  const sums = new Map<string, number>();

  function begin(day: number): void {
    today = day;
    mark = saltedMark();
    asked.clear();
    sums.clear();
    remembered = 0;
  }

  function forgetOldest(): void {
    const [first] = asked;
    if (!first) return;
    asked.delete(first[0]);
    remembered -= first[1].size;
  }

  function addTo(network: string): void {
    const sum = sums.get(network) ?? 0;
    if (sum === 0 && sums.size >= maxNetworks) sums.delete(sums.keys().next().value ?? '');
    sums.set(network, sum + 1);
  }

  return {
    waitFor(client, account, now) {
      if (accounts === null) return null;
      const day = Math.floor(now / dayMs);
      if (day !== today) begin(day);
      const [narrowest, ...wider] = networkTiers(client).map(({ network, share }) => ({
        name: mark(`client ${network}`),
        share,
      }));
      if (!narrowest) return null;
      const own = asked.get(narrowest.name) ?? new Set<string>();
      const one = mark(`account ${account}`);
      if (own.has(one)) return null;
      const spent = wider.some(({ name, share }) => (sums.get(name) ?? 0) >= accounts * share);
      if (spent || own.size >= accounts) return Math.max(1, Math.ceil(((day + 1) * dayMs - now) / 1000));
      own.add(one);
      asked.set(narrowest.name, own);
      for (const { name } of wider) addTo(name);
      remembered += 1;
      if (remembered > maxRemembered) forgetOldest();
      return null;
    },
  };
}
