import { hostname } from 'node:os';
import type { Micros } from '../../../contract/timestamp.ts';
import { movedNote } from '../../common/moved.ts';
import type { CopiedRow, CopySource, EachChunk, SourceDay, SourceLook } from '../../copy/parts.ts';
import { StoreError } from '../../errors.ts';
import { dayName, dayStart, hour } from '../../time.ts';
import { defaultLeaseMs, Lease } from '../base/lease.ts';
import type { PostgresPlace } from '../base/place.ts';
import { decodeRow, isLive, type RowRecord, recordColumns } from '../base/row.ts';
import { longLimits, type Queries, Session } from '../base/session.ts';
import { assertReadable } from '../schema/migrate.ts';
import { partitionOf } from '../schema/partition.ts';
import { readContent } from './content.ts';
import { readDayCounts } from './day-counts.ts';

/** Number of connections: one each for reading rows, for other reads, and for the renewal of the lease. */
const connections = 3;

/**
 * Opens the store in a database as the source of a copy. `leaseMs` is the duration of the lease that `freeze` takes.
 */
export async function openPostgresSource(place: PostgresPlace, leaseMs = defaultLeaseMs): Promise<CopySource> {
  // Read from the primary, because a standby may lag behind.
  const session = new Session(place, 'primary', connections);
  try {
    await assertReadable(session);
    return sourceOver(session, leaseMs);
  } catch (error) {
    await session.close();
    throw error;
  }
}

function sourceOver(session: Session, leaseMs: number): CopySource {
  let lease: Lease | null = null;

  /** Runs a change while this copy holds the lease. */
  async function frozen<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const held = lease;
    if (held === null) throw new StoreError('second_writer', 'the store is not frozen');
    return session.write(async (queries) => {
      await held.check(queries);
      return work(queries);
    });
  }

  return {
    look: () => session.read(look),
    rowsIn: (day) => session.read((queries) => rowsIn(queries, day)),
    rows(day, after, each) {
      let through = after;
      return session.read(
        async (queries) => {
          const listed = await queries.rows('SELECT 1 FROM day WHERE day = $1', [day]);
          if (listed.length === 0) throw new StoreError('out_of_window', `${dayName(day)} has expired`);
          await tableRows(queries, day, { after: through, isOrdered: true }, async (rows) => {
            await each(rows);
            // If the read is repeated, it continues after the rows that the caller has processed.
            through = rows.at(-1)?.at ?? through;
          });
        },
        { locked: 'observation', limits: longLimits },
      );
    },
    counts: (day) => session.read((queries) => readDayCounts(queries, day), { limits: longLimits }),
    content: () => session.read(readContent, { limits: longLimits }),
    async freeze() {
      try {
        lease ??= await Lease.take(session, `${hostname()} pid ${process.pid}, a copy`, leaseMs);
        return true;
      } catch (error) {
        if (error instanceof StoreError && error.code === 'second_writer') return false;
        throw error;
      }
    },
    retire: () =>
      frozen(async (queries) => {
        const put = 'INSERT INTO note(name, content) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING';
        await queries.run(put, [movedNote, new Date().toISOString()]);
      }),
    reopen: () => frozen(async (queries) => (await queries.run('DELETE FROM note WHERE name = $1', [movedNote])) > 0),
    async close() {
      await lease?.release();
      await session.close();
    },
  };
}

interface StoreRecord {
  readonly generationId: string;
  readonly startedAt: Micros;
  readonly floor: Micros;
  readonly revision: number;
  readonly heartbeat: Micros | null;
  readonly last: Micros | null;
  readonly through: Micros | null;
}

async function look(queries: Queries): Promise<SourceLook> {
  const [row] = await queries.rows<StoreRecord>(
    `SELECT generation AS "generationId", started_at AS "startedAt", floor, revision, heartbeat, last_stamp AS last,
     observed_through AS through FROM store`,
  );
  if (!row) throw new StoreError('not_a_store', 'the database contains no store yet');
  const { generationId, startedAt, ...rest } = row;
  const days = await queries.rows<Omit<SourceDay, 'isChanging'>>('SELECT day, revision FROM day ORDER BY day');
  return {
    ...rest,
    epoch: { generationId, startedAt },
    // A purge removes the rows of a day in one commit, so a day is never in an intermediate state.
    days: days.map((one) => ({ ...one, isChanging: false })),
  };
}

async function rowsIn(queries: Queries, day: number): Promise<number> {
  const [sum] = await queries.rows<{ n: number }>(
    'SELECT coalesce(sum(applied + removed), 0)::bigint AS n FROM counter_hour WHERE hour >= $1 AND hour < $2',
    [dayStart(day) / hour, dayStart(day + 1) / hour],
  );
  return sum?.n ?? 0;
}

/** Number of rows per FETCH. */
const rowsAtOnce = 5_000;
/** Maximum time that the copy target may take to store a chunk, in milliseconds. */
const idleMs = 120_000;

/**
 * Reads the rows of a day's table after a stamp, in chunks, in the caller's transaction. The next chunk is fetched
 * while the caller processes the current one. Throws `damaged` for a row that does not match its identity.
 */
export async function tableRows(
  queries: Queries,
  day: number,
  { after, isOrdered }: { readonly after: number; readonly isOrdered: boolean },
  each: EachChunk,
): Promise<void> {
  await queries.run(`SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`);
  await queries.run(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${recordColumns} FROM ${partitionOf(day)} o
     JOIN source s ON s.id = o.source WHERE o.at > ${after} ${isOrdered ? 'ORDER BY o.at' : ''}`,
  );
  const fetch = () => queries.rows<RowRecord>(`FETCH ${rowsAtOnce} FROM copied`);
  let next = fetch();
  for (;;) {
    const rows = await next;
    const isLast = rows.length < rowsAtOnce;
    if (!isLast) {
      next = fetch();
      // Prevent an unhandled rejection; the error is reported when the result is awaited.
      next.catch(() => undefined);
    }
    if (rows.length > 0) await each(rows.map(copiedRow));
    if (isLast) break;
  }
  await queries.run('CLOSE copied');
}

function copiedRow(row: RowRecord): CopiedRow {
  const { observedAt, label, signature } = decodeRow(row);
  return { at: observedAt, observation: { label, signature, live: isLive(row.flags) }, identity: row.identity };
}
