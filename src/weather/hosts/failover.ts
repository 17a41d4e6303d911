import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Failover } from '../window/failover-state.ts';
import { dayUs, windowUs } from '../window/window.ts';
import { type Health, lasted } from './trouble.ts';

/**
 * Time for which the first host must have been in trouble, and the second host healthy, before a failover, in
 * microseconds.
 */
export const failoverUs = 15 * windowUs;
/** Time without trouble after which the first host is published again, in microseconds. */
export const quietUs = dayUs;
/**
 * Time for which the first host must have been healthy to be published again while the second host is in trouble, in
 * microseconds.
 */
const recoveredUs = 60 * windowUs;

/** Inputs of the failover decision. */
export interface FailoverInput {
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
