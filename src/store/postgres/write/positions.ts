import { hash } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import type { PositionChange } from '../../port.ts';
import type { Queries } from '../base/session.ts';

/** A new position with its key in the table. */
interface PutPosition {
  readonly key: string;
  readonly source: string;
  readonly endpoint: string;
  readonly value: string;
}

/** Changes to positions, by the statement that makes them. */
interface PositionChanges {
  /** Positions with the time of their batch, which the function `add_counts` stores. */
  readonly put: readonly PutPosition[];
  /** Positions with times of their own. */
  readonly dated: readonly (PutPosition & { readonly acceptedAt: Micros })[];
  /** Keys of the removed positions. */
  readonly gone: readonly string[];
}

/** Divides the changes to positions of a batch. The last change to a position counts. */
export function sortPositions(changes: readonly PositionChange[]): PositionChanges {
  const put: PutPosition[] = [];
  const dated: (PutPosition & { readonly acceptedAt: Micros })[] = [];
  const gone: string[] = [];
  const last = new Map(changes.map((one) => [positionKey(one), one]));
  for (const [key, { source, endpoint, value, acceptedAt }] of last) {
    if (value === null) gone.push(key);
    else if (acceptedAt === undefined) put.push({ key, source, endpoint, value });
    else dated.push({ key, source, endpoint, value, acceptedAt });
  }
  return { put, dated, gone };
}

/** Removes positions, and stores those that have times of their own. */
export async function changePositions(
  queries: Queries,
  { dated, gone }: Pick<PositionChanges, 'dated' | 'gone'>,
): Promise<void> {
  await Promise.all([
    gone.length === 0
      ? Promise.resolve(0)
      : queries.run('DELETE FROM position WHERE key = ANY ($1::text[])', [[...gone]]),
    dated.length === 0
      ? Promise.resolve(0)
      : queries.run(
          `INSERT INTO position(key, source, endpoint, value, accepted_at)
           SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
           ON CONFLICT (key) DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at`,
          [
            ...[dated.map(({ key }) => key), dated.map(({ source }) => source), dated.map(({ endpoint }) => endpoint)],
            ...[dated.map(({ value }) => value), dated.map(({ acceptedAt }) => acceptedAt)],
          ],
        ),
  ]);
}

function positionKey({ source, endpoint }: PositionChange): string {
  return hash('sha256', JSON.stringify([source, endpoint]), 'base64');
}
