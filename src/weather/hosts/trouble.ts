import type { Trouble } from '../window/failover-state.ts';
import { union } from '../window/interval.ts';
import { dayUs, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';

/** A series that brought nothing for no longer than this is not in trouble: hosts restart, and readers reconnect. */
const bearableGapUs = 5 * windowUs;

/** The condition of a series at one instant. */
export interface Health {
  /** Null while it is well. */
  readonly trouble: Trouble | null;
  /** Time for which it has been well, at most a day; 0 while it is in trouble. */
  readonly wellForUs: number;
}

/** Input of the judgement. */
export interface HealthInput {
  readonly store: WindowStore;
  /** Name of the series. */
  readonly name: string;
  readonly nowUs: number;
  /** Since when collections that make up much of the interactions have been silent; null where they are not. */
  readonly silentSinceUs: number | null;
}

/** Judges a series by its observed spans of the last day and by its silences. */
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

/** Time for which the trouble has lasted at an instant, as far as a process that started at another one has seen it. */
export function lasted(trouble: Trouble | null, nowUs: number, startedUs: number): number {
  return trouble ? nowUs - Math.max(trouble.sinceUs, startedUs) : 0;
}
