import { networkTiers } from '../../http/connections/network-tiers.ts';
import { saltedMark } from './salted-mark.ts';

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
const maxRemembered = 100_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;

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
      if (buckets.size < maxRemembered) break;
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
          if (buckets.size >= maxRemembered) makeRoom(now);
          bucket = { left: capacity * share, at: now, share };
          buckets.set(name, bucket);
        }
        refill(bucket, now).left -= cost;
      }
    },
  };
}

/** Error for a client that has used up its allowance. */
export class BudgetSpent extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('the client has used up its allowance');
    this.name = 'BudgetSpent';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
