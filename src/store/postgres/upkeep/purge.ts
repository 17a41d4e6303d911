import type { Micros } from '../../../contract/timestamp.ts';
import { identityBytes } from '../../label.ts';
import { dayStart, hour, minute } from '../../time.ts';
import type { Lease } from '../base/lease.ts';
import { longLimits, type Queries, type Session } from '../base/session.ts';
import { partitionOf } from '../schema/partition.ts';

/** Number of rows per FETCH. */
const identitiesAtOnce = 20_000;

/** State and options of a purge. */
interface PurgeWork {
  readonly session: Session;
  readonly lease: Lease;
  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  /** Aborts the work in progress; a later run repeats it. */
  readonly signal: AbortSignal;
}

/**
 * Removes the rows of the oldest request from the next day, with all data derived from them, in one commit: readers see
 * the day either before or after the removal. Appends continue until the counters are changed at the end of the
 * transaction. If no day is left, records the request as completed. Returns true while work remains.
 */
export async function purgeNextDay({ session, lease, forget, signal }: PurgeWork, at: Micros): Promise<boolean> {
  const { more, identities } = await session.write(
    async (queries) => {
      await lease.check(queries);
      const pending = await queries.rows<{ source: string; next: number }>(
        `SELECT source, (SELECT min(day) FROM day WHERE day >= p.next_day) AS next FROM purge p
       WHERE completed_at IS NULL ORDER BY requested_at, source`,
      );
      const [request] = pending;
      if (!request) return { more: false, identities: [] };
      if (request.next === null) {
        await queries.run('UPDATE purge SET completed_at = $2 WHERE source = $1', [request.source, at]);
        return { more: pending.length > 1, identities: [] };
      }
      return { more: true, identities: await purgeDay(queries, request.source, request.next) };
    },
    { ...longLimits, signal },
  );
  for (const packed of identities) {
    const count = packed.length / identityBytes;
    forget(Array.from({ length: count }, (_, i) => packed.subarray(i * identityBytes, (i + 1) * identityBytes)));
  }
  return more;
}

/** Removes the rows of a source from a day; returns the identities of these rows, concatenated in buffers. */
async function purgeDay(queries: Queries, source: string, day: number): Promise<Buffer[]> {
  const [known] = await queries.rows<{ id: number }>('SELECT id FROM source WHERE did = $1', [source]);
  const id = known?.id ?? 0;
  const identities = await identitiesOf(queries, id, day);
  const removed = await queries.run(`DELETE FROM ${partitionOf(day)} WHERE source = $1`, [id]);
  const [start, end] = [dayStart(day), dayStart(day + 1)];
  // Lock the row: the update waits for the commit of an append in progress and blocks the next append, so that no
  // counts are added before this transaction ends.
  await queries.run('UPDATE store SET observed_through = observed_through');
  const refused = await queries.run('DELETE FROM refusal WHERE source = $1 AND hour >= $2 AND hour < $3', [
    ...[id, start / hour, end / hour],
  ]);
  for (const [bucket, length] of [
    ['minute', minute],
    ['hour', hour],
  ] as const) {
    await queries.run(`DELETE FROM counter_${bucket} WHERE source = $1 AND ${bucket} >= $2 AND ${bucket} < $3`, [
      id,
      start / length,
      end / length,
    ]);
  }
  await queries.run('DELETE FROM labeler_count WHERE day = $1 AND source = $2', [day, id]);
  await queries.run('DELETE FROM account_group WHERE day = $1 AND source = $2', [day, id]);
  if (removed + refused > 0) {
    await queries.run('UPDATE store SET revision = revision + 1');
    await queries.run('UPDATE day SET revision = revision + 1 WHERE day = $1', [day]);
  }
  await queries.run('UPDATE purge SET next_day = $2, removed = removed + $3 WHERE source = $1', [
    source,
    day + 1,
    removed,
  ]);
  return identities;
}

async function identitiesOf(queries: Queries, source: number, day: number): Promise<Buffer[]> {
  await queries.run(
    `DECLARE purged NO SCROLL CURSOR FOR SELECT identity FROM ${partitionOf(day)} WHERE source = ${source}`,
  );
  const packed: Buffer[] = [];
  for (;;) {
    const rows = await queries.rows<{ identity: Buffer }>(`FETCH ${identitiesAtOnce} FROM purged`);
    packed.push(Buffer.concat(rows.map(({ identity }) => identity)));
    if (rows.length < identitiesAtOnce) break;
  }
  await queries.run('CLOSE purged');
  return packed;
}
