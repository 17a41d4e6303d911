/** Reason why a series is currently unreliable, and the start of that state in microseconds. */
export interface Trouble {
  readonly reason: 'unobserved' | 'silent';
  readonly sinceUs: number;
}

/** State while the second host is published: its start in microseconds, and its reason. */
export interface Failover {
  readonly sinceUs: number;
  /** Trouble of the first host at the start of the failover. */
  readonly trouble: Trouble;
  /** Last instant at which the first host was in trouble, in microseconds. */
  readonly unwellUs: number;
}
