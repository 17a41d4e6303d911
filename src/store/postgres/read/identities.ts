import { dayStart } from '../../time.ts';
import type { Queries } from '../base/session.ts';

/** Number of rows per FETCH. */
const identitiesAtOnce = 20_000;

/** Calls `found` with the stamp and identity of each row accepted at or after `since`, in stamp order. */
export async function readIdentities(
  queries: Queries,
  since: number,
  found: (at: number, identity: Buffer) => void,
): Promise<void> {
  await queries.run(
    `DECLARE identities NO SCROLL CURSOR FOR SELECT at, identity FROM observation
     WHERE at >= ${Math.max(since, dayStart(0))} ORDER BY at`,
  );
  for (;;) {
    const rows = await queries.rows<{ at: number; identity: Buffer }>(`FETCH ${identitiesAtOnce} FROM identities`);
    for (const { at, identity } of rows) found(at, identity);
    if (rows.length < identitiesAtOnce) return;
  }
}
