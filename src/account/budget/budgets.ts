import { hash, randomBytes } from 'node:crypto';
import { networkTiers } from '../../http/connections/network-tiers.ts';

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

/**
 * Maximum allowance of a client, expressed as the minutes that a complete refill takes. A client may use its whole
 * allowance at once.
 */
const burstMinutes = 5;
/** Number of sent bytes that cost as much as one millisecond of reading. */
const bytesPerMs = 50_000;
/**
 * Maximum number of remembered networks. Above this number, full allowances are discarded first, then the oldest
 * ones.
 */
const maxRememberedNetworks = 100_000;
const minuteMs = 60_000;

/**
 * A limit on the costs that a client causes: time in reading processes, and bytes sent. Each network to which the
 * client belongs has an allowance that refills over time. Allowances are kept only in memory, by network names that are
 * hashed with a daily salt.
 */
export interface CostBudget {
  /**
   * Returns null if the client may send a request now, or the number of seconds to wait. `now` is in milliseconds since
   * 1970.
   */
  waitFor(client: string, now: number): number | null;
  /** Charges a cost to the allowances of the client's networks. */
  charge(client: string, cost: { readonly readMs?: number; readonly bytes?: number }, now: number): void;
}

interface Bucket {
  left: number;
  at: number;
  readonly share: number;
}

/**
 * Creates a budget that refills at `msPerMinute` milliseconds per minute and client, or an unlimited budget if
 * `msPerMinute` is null.
 */
export function createCostBudget(msPerMinute: number | null): CostBudget {
  if (msPerMinute === null) return { waitFor: () => null, charge: () => undefined };
  const perMs = msPerMinute / minuteMs;
  const capacity = msPerMinute * burstMinutes;
  let today = Number.NaN;
  let mark = saltedMark();
  let buckets = new Map<string, Bucket>();

  function refill(bucket: Bucket, now: number): Bucket {
    const passed = Math.max(0, now - bucket.at);
    bucket.left = Math.min(capacity * bucket.share, bucket.left + passed * perMs * bucket.share);
    bucket.at = now;
    return bucket;
  }

  function newDay(now: number): void {
    const day = Math.floor(now / dayMs);
    if (day === today) return;
    today = day;
    mark = saltedMark();
    buckets = new Map();
  }

  /** Discards full allowances, which unknown clients have too, and then the oldest ones until the limit is met. */
  function makeRoom(now: number): void {
    for (const [name, bucket] of buckets) if (refill(bucket, now).left >= capacity * bucket.share) buckets.delete(name);
    for (const name of buckets.keys()) {
      if (buckets.size < maxRememberedNetworks) break;
      buckets.delete(name);
    }
  }

  return {
    waitFor(client, now) {
      newDay(now);
      let wait = 0;
      for (const { network, share } of networkTiers(client)) {
        const bucket = buckets.get(mark(network));
        if (!bucket) continue;
        const { left } = refill(bucket, now);
        if (left <= 0) wait = Math.max(wait, (1 - left) / (perMs * share));
      }
      return wait === 0 ? null : Math.max(1, Math.ceil(wait / 1000));
    },
    charge(client, { readMs = 0, bytes = 0 }, now) {
      newDay(now);
      const cost = readMs + bytes / bytesPerMs;
      for (const { network, share } of networkTiers(client)) {
        const name = mark(network);
        let bucket = buckets.get(name);
        if (!bucket) {
          if (buckets.size >= maxRememberedNetworks) makeRoom(now);
          bucket = { left: capacity * share, at: now, share };
          buckets.set(name, bucket);
        }
        refill(bucket, now).left -= cost;
      }
    },
  };
}

/** Error for a client that has used up its allowance, or has too many look-ups in progress. */
export class BudgetSpent extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('the client has reached a limit');
    this.name = 'BudgetSpent';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Length of a mark in characters: 72 bits, so that a collision among a million names is very unlikely. */
const markCharacters = 12;

/**
 * Returns a function that replaces the name of a client or account with a salted hash. Only the function holds the
 * salt, so the names cannot be recovered once the function is discarded. A plain hash is enough, because the salt is
 * secret and of fixed length, and the marks are never published; an HMAC would take several times the processor time.
 */
export function saltedMark(): (name: string) => string {
  const salt = randomBytes(32).toString('base64');
  return (name) => hash('sha256', salt + name, 'base64url').slice(0, markCharacters);
}
