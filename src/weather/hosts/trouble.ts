import type { Trouble } from '../window/failover-state.ts';
import { union } from '../window/interval.ts';
import { dayUs, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';

/**
 * Longest gap of a healthy series, in microseconds. Short gaps are normal, because hosts restart and readers reconnect.
 */
export const bearableGapUs = 5 * windowUs;

/** Health of a series at one time. */
export interface Health {
  /** Current trouble of the series, or null while the series is healthy. */
  readonly trouble: Trouble | null;
  /**
   * Time for which the series has been healthy, in microseconds, limited to one day. It is 0 while the series is in
   * trouble.
   */
  readonly wellForUs: number;
}

/** Input for computing the health of a series. */
export interface HealthInput {
  readonly store: WindowStore;
  /** Name of the series. */
  readonly name: string;
  readonly nowUs: number;
  /**
   * Start of the silence of collections that make up more than 5 % of the interactions, in microseconds, or null if
   * there is no such silence.
   */
  readonly silentSinceUs: number | null;
}

/** Computes the health of a series from its silences and its observed spans of the last day. */
export function healthOf({ store, name, nowUs, silentSinceUs }: HealthInput): Health {
  const from = nowUs - dayUs;
  const observed = union(store.observed(store.series(name).id, { from, to: nowUs + windowUs }));
  let observedTo = from;
  let wellSinceUs = from;
  for (const span of observed) {
    if (span.from - observedTo > bearableGapUs) wellSinceUs = span.from;
    observedTo = span.to;
  }
  const troubles: Trouble[] = [];
  if (nowUs - observedTo > bearableGapUs) troubles.push({ reason: 'unobserved', sinceUs: observedTo });
  if (silentSinceUs !== null) troubles.push({ reason: 'silent', sinceUs: silentSinceUs });
  const [trouble = null] = troubles.sort((a, b) => a.sinceUs - b.sinceUs);
  return { trouble, wellForUs: trouble ? 0 : nowUs - wellSinceUs };
}

/**
 * Returns how long a trouble has lasted at `nowUs`, in microseconds, or 0 if there is no trouble. Time before the start
 * of this process is excluded.
 */
export function lasted(trouble: Trouble | null, nowUs: number, startedUs: number): number {
  return trouble ? nowUs - Math.max(trouble.sinceUs, startedUs) : 0;
}
