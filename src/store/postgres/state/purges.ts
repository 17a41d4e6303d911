import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { Purge } from '../../removals.ts';
import { micros } from '../../time.ts';
import type { Queries } from '../base/session.ts';
import { changeGaps } from './gaps.ts';

/** Maximum number of stored purge requests. A request is removed once the floor is after its completion. */
const maxPurges = 20_000;

/** Returns the requested purges, by request time, then by DID. */
export function readPurges(queries: Queries): Promise<Purge[]> {
  return queries.rows<Purge>(
    `SELECT source, requested_at AS "requestedAt", completed_at AS "completedAt", removed AS rows,
     CASE WHEN completed_at IS NULL THEN (SELECT count(*) FROM day WHERE day >= next_day) ELSE 0 END AS "daysLeft"
     FROM purge ORDER BY requested_at, source`,
  );
}

/**
 * Requests a purge. Returns false if `at` is not after the floor, or if a request for the source with the same or a
 * later time exists. Throws `invalid_query` if the store already has the maximum number of requests.
 */
export async function requestPurge(
  queries: Queries,
  { source, at }: { readonly source: string; readonly at: Micros },
): Promise<boolean> {
  const [row] = await queries.rows<{ floor: Micros; before: Micros | null; requests: number }>(
    `SELECT floor, (SELECT requested_at FROM purge WHERE source = $1) AS before,
     (SELECT count(*) FROM purge) AS requests FROM store`,
    [source],
  );
  const { floor = micros(0), before = null, requests = 0 } = row ?? {};
  if (at <= floor || (before !== null && before >= at)) return false;
  if (before === null && requests >= maxPurges) {
    throw new StoreError('invalid_query', `a store holds at most ${maxPurges} purge requests`);
  }
  await queries.run(
    `INSERT INTO purge(source, requested_at) VALUES ($1, $2)
     ON CONFLICT (source) DO UPDATE SET requested_at = excluded.requested_at, completed_at = NULL, next_day = 0`,
    [source, at],
  );
  await queries.run('UPDATE store SET revision = revision + 1');
  await changeGaps(queries, [{ kind: 'record', gap: { source, start: floor, end: at, reason: 'maintenance' } }]);
  return true;
}
