import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Failover } from '../window/failover-state.ts';
import { dayUs, windowUs } from '../window/window.ts';
import { type Health, lasted } from './trouble.ts';

/** The second host is published when the first has been in trouble for this long, and it has been well for as long. */
const failoverUs = 15 * windowUs;
/** The first host is published again after a day without trouble. */
const quietUs = dayUs;
/** Or earlier if the second host is in trouble and the first has been well for this long. */
const recoveredUs = 60 * windowUs;

/** Input of the decision. */
export interface FailoverInput {
  /** Null while the first host is published. */
  readonly current: Failover | null;
  readonly first: Health;
  readonly second: Health;
  readonly nowUs: number;
  /** Start of this process: trouble from before counts from then on. */
  readonly startedUs: number;
}

/** Decides which of two hosts is published; null for the first. */
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

/** The caveat of the artifact while the second host is published. It names no host: a caveat is no place for names. */
export function failoverCaveat({ sinceUs, trouble }: Failover): string {
  const why =
    trouble.reason === 'silent'
      ? 'was silent in collections that make up much of the interactions'
      : 'was not observed';
  return (
    `All of this is of the second of two observed hosts, published since ${instant(sinceUs)} because the first ${why} from ` +
    `${instant(trouble.sinceUs)} on. The first one is published again after a day without trouble. Counts of two hosts are never added.`
  );
}

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}
