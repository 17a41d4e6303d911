import { parseInstant } from '../../../contract/timestamp.ts';
import { delayRangeOf } from '../../labeler-counters.ts';
import { isLive } from '../base/row.ts';

/** Number that the database stores for each kind of labeler counter. */
export const labelerKinds = { verdict: 0, value: 1, others: 2, delay: 3 } as const;

/** Returns the index of the delay range of a row, or null if the row is not live or its `cts` is not a valid time. */
export function delayOf(at: number, flags: number, cts: string): number | null {
  if (!isLive(flags)) return null;
  const authored = parseInstant(cts);
  return authored === null ? null : delayRangeOf(Math.max(0, Math.floor((at - authored) / 1000)));
}
