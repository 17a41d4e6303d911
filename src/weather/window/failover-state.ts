/** Reason why a series is unreliable, and the start of its unreliable time, in microseconds. */
export interface Trouble {
  readonly reason: 'unobserved' | 'silent';
  readonly sinceUs: number;
}

/**
 * State while the second host is published: the start of the failover in microseconds, and the trouble that caused it.
 */
export interface Failover {
  readonly sinceUs: number;
  /** Trouble of the first host at the start of the failover. */
  readonly trouble: Trouble;
  /** Last time at which the first host was in trouble, in microseconds. */
  readonly unwellUs: number;
}
