import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Failover, Trouble } from '../window/silence-store.ts';
import { dayUs, union, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';

/** Times by which the published host changes, in microseconds. */
export const failoverRule = {
  /**
   * Time for which the first host must have been in trouble, and the second host healthy, before a failover, in
   * microseconds.
   */
  failoverUs: 15 * windowUs,
  /** Time without trouble after which the first host is published again, in microseconds. */
  quietUs: dayUs,
  /**
   * Longest gap of a healthy series, in microseconds. Short gaps are normal, because hosts restart and readers reconnect.
   */
  bearableGapUs: 5 * windowUs,
};
const { failoverUs, quietUs, bearableGapUs } = failoverRule;
/**
 * Time for which the first host must have been healthy to be published again while the second host is in trouble, in
 * microseconds.
 */
const recoveredUs = 60 * windowUs;

/** Inputs of the failover decision. */
interface FailoverInput {
  /** The failover in effect, or null while the first host is published. */
  readonly current: Failover | null;
  readonly first: Health;
  readonly second: Health;
  readonly nowUs: number;
  /**
   * Start of this process, in microseconds. If trouble began before this time, only its duration since this time
   * counts.
   */
  readonly startedUs: number;
}

/** Decides which of two hosts is published. Returns the failover for the second host, or null for the first host. */
export function decideHost({ current, first, second, nowUs, startedUs }: FailoverInput): Failover | null {
  if (!current) {
    const { trouble } = first;
    if (!trouble || lasted(trouble, nowUs, startedUs) < failoverUs || second.wellForUs < failoverUs) return null;
    return { sinceUs: nowUs, trouble, unwellUs: nowUs };
  }
  const unwellUs = first.trouble ? nowUs : current.unwellUs;
  if (nowUs - unwellUs >= quietUs) return null;
  if (lasted(second.trouble, nowUs, startedUs) >= failoverUs && first.wellForUs >= recoveredUs) return null;
  return { ...current, unwellUs };
}

/** Returns the caveat that the artifact contains while the second host is published. The caveat names no host. */
export function failoverCaveat({ sinceUs, trouble }: Failover): string {
  const why =
    trouble.reason === 'silent'
      ? 'was silent in collections that make up much of the interactions'
      : 'was not observed';
  return (
    `All data is from the second of two observed hosts, published since ${instant(sinceUs)} because the first ${why} from ` +
    `${instant(trouble.sinceUs)} onwards. The first one is published again after a day without trouble. Counts of two hosts are never added.`
  );
}

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}

/** Health of a series at one time. */
interface Health {
  /** Current trouble of the series, or null while the series is healthy. */
  readonly trouble: Trouble | null;
  /**
   * Time for which the series has been healthy, in microseconds, limited to one day. It is 0 while the series is in
   * trouble.
   */
  readonly wellForUs: number;
}

/** Input for computing the health of a series. */
interface HealthInput {
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
