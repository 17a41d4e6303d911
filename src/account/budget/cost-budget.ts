import { networkTiers } from '../../http/connections/network-tiers.ts';
import { saltedMark } from './salted-mark.ts';

/** Minutes of its allowance that a client may use at once. */
const burstMinutes = 5;
/** Bytes sent that count as a millisecond of reading. */
const bytesPerMs = 50_000;
/** Networks that are remembered; beyond it those with most left are forgotten first. */
const maxRemembered = 100_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Limits the cost of a client: milliseconds of reading processes, and bytes sent. Each of its networks has an
 * allowance that refills. Kept only in memory, under a salt that changes every day.
 */
export interface CostBudget {
  /** Seconds until the client may ask again, or null: it may now. `now` in milliseconds since 1970. */
  waitFor(client: string, now: number): number | null;
  /** Charges what was spent for a client. */
  charge(client: string, cost: { readonly readMs?: number; readonly bytes?: number }, now: number): void;
}

interface Bucket {
  left: number;
  at: number;
  readonly share: number;
}

/** A budget of `msPerMinute` milliseconds for a client in each minute; null where there is no bound. */
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

  /** A full bucket is that of a client which is not known: it need not be remembered. */
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

/** The client has used its allowance. */
export class BudgetSpent extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('the client has used its allowance');
    this.name = 'BudgetSpent';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
