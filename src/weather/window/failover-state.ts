/** The reason why a series cannot be relied on now, and since when; microseconds. */
export interface Trouble {
  readonly reason: 'unobserved' | 'silent';
  readonly sinceUs: number;
}

/** The second host is published: since when, and why. Microseconds. */
export interface Failover {
  readonly sinceUs: number;
  /** Trouble of the first host at that time. */
  readonly trouble: Trouble;
  /** The last time when the first host was in trouble. */
  readonly unwellUs: number;
}
