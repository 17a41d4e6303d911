import type { Purge } from '../../store/removals.ts';
import { second } from '../../store/time.ts';
import type { KeptRow } from './row-buffer.ts';

/** Time within which a standby notices a denial, in microseconds: twice the interval between its reads of the list. */
const noticedWithin = 10 * second;

/**
 * Returns the kept rows without those that a purge removed from the store, or would have removed. The former writer
 * stops reading a denied labeler before the standby does, so some rows are only in the standby; such rows must not be
 * stored after the purge.
 */
export function withoutPurged(rows: readonly KeptRow[], purges: readonly Purge[]): readonly KeptRow[] {
  const requested = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  return rows.filter(({ observation, acceptedAt }) => {
    const at = requested.get(observation.label.src);
    return at === undefined || acceptedAt > at + noticedWithin;
  });
}
