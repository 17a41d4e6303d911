import { hostname } from 'node:os';
import type { Micros } from '../../../contract/timestamp.ts';
import type {
  CopiedPurge,
  CopiedRow,
  CopySource,
  DayCounts,
  EachChunk,
  LabelerDay,
  SourceDay,
  SourceLook,
  StoreContent,
  TimeCount,
} from '../../copy/parts.ts';
import { movedNote, StoreError } from '../../errors.ts';
import { type GapRow, gapOf } from '../../gaps.ts';
import type { RefusedRows } from '../../label.ts';
import type { Position, RefusalReason } from '../../port.ts';
import type { Definitions, DirectoryPosition, LabelerKey } from '../../roster.ts';
import { dayName, dayStart, hour, minute } from '../../time.ts';
import { defaultLeaseMs, Lease } from '../base/lease.ts';
import type { PostgresPlace } from '../base/place.ts';
import { decodeRow, isLive, type RowRecord, recordColumns } from '../base/row.ts';
import { longLimits, type Queries, Session } from '../base/session.ts';
import { labelerKinds } from '../count/counters.ts';
import { assertReadable, partitionOf } from '../schema/migrate.ts';
import { readRoster } from '../state/state.ts';

/** Number of connections: one each for reading rows and for other reads. The lease has one more. */
const connections = 2;

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
        lease ??= await Lease.take(
          new Session(session.place, 'primary', 1),
          `${hostname()} pid ${process.pid}, a copy`,
          leaseMs,
        );
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

/**
 * Reads all data that does not belong to a day, in the caller's transaction. Omits the note that marks the store as
 * retired.
 */
async function readContent(queries: Queries): Promise<StoreContent> {
  const gaps = await queries.rows<GapRow>('SELECT source, started, ended, reason FROM gap');
  const notes = await queries.rows<{ name: string; content: string }>(
    `SELECT name, content FROM note WHERE name <> '${movedNote}'`,
  );
  const bytes = await queries.rows<{ source: string; day: number; bytes: number }>(
    'SELECT source, day, bytes FROM daily_bytes',
  );
  return {
    positions: await queries.rows<Position>(
      'SELECT source, endpoint, value, accepted_at AS "acceptedAt" FROM position',
    ),
    refusedRows: await queries.rows<RefusedRows>('SELECT source, bucket, rows FROM refused_rows'),
    gaps: gaps.map(gapOf),
    roster: await readRoster(queries),
    keys: await queries.rows<LabelerKey>(
      'SELECT did, label_key AS key, first_seen AS "firstSeen", last_seen AS "lastSeen" FROM label_key',
    ),
    definitions: await queries.rows<Definitions>(
      'SELECT did, seen_at AS "seenAt", content FROM definitions ORDER BY id',
    ),
    notes: notes.map(({ name, content }) => [name, content] as const),
    dailyBytes: bytes.map(({ source, day, bytes: n }) => [source, day, n] as const),
    directories: await queries.rows<DirectoryPosition>('SELECT host, seq FROM directory_position'),
    purges: await queries.rows<CopiedPurge>(
      `SELECT source, requested_at AS "requestedAt", completed_at AS "completedAt", removed, next_day AS "nextDay"
       FROM purge`,
    ),
  };
}

/** Reads the counters of a day. */
export async function readDayCounts(queries: Queries, day: number): Promise<DayCounts> {
  const [minutes, hours] = await Promise.all([times(queries, 'minute', day), times(queries, 'hour', day)]);
  const refused = await queries.rows<{ hour: number; did: string; reason: RefusalReason; n: number }>(
    'SELECT hour, did, reason, n FROM refusal JOIN source ON id = source WHERE hour >= $1 AND hour < $2',
    bounds(day, hour),
  );
  const labelers = await queries.rows<LabelerRecord>(
    'SELECT did, kind, key, applied, removed FROM labeler_count JOIN source ON id = source WHERE day = $1',
    [day],
  );
  return {
    minutes,
    hours,
    refusals: refused.map(({ hour: at, did, reason, n }) => [at, did, reason, n] as const),
    labelers: [...Map.groupBy(labelers, ({ did }) => did)].map(([did, of]) => labelerDay(did, of)),
    countedFrom: null,
  };
}

interface LabelerRecord {
  readonly did: string;
  readonly kind: number;
  readonly key: string;
  readonly applied: number;
  readonly removed: number;
}

async function times(queries: Queries, bucket: 'minute' | 'hour', day: number): Promise<TimeCount[]> {
  const rows = await queries.rows<{ bucket: number; did: string; applied: number; removed: number }>(
    `SELECT ${bucket} AS bucket, did, applied, removed FROM counter_${bucket} JOIN source ON id = source
     WHERE ${bucket} >= $1 AND ${bucket} < $2`,
    bounds(day, bucket === 'minute' ? minute : hour),
  );
  return rows.map(({ bucket: at, did, applied, removed }) => [at, did, applied, removed] as const);
}

function labelerDay(labeler: string, rows: readonly LabelerRecord[]): LabelerDay {
  const of = (kind: number) => rows.filter((row) => row.kind === kind);
  const [others] = of(labelerKinds.others);
  return {
    labeler,
    verdicts: Object.fromEntries(of(labelerKinds.verdict).map(({ key, applied }) => [key, applied])),
    values: of(labelerKinds.value).map(({ key, applied, removed }) => [key, applied, removed] as const),
    others: [others?.applied ?? 0, others?.removed ?? 0],
    delays: of(labelerKinds.delay).map(({ key, applied }) => [Number(key), applied] as const),
  };
}

/** Returns the first bucket of a day and that of the next day, for buckets of a length. */
export function bounds(day: number, length: number): [start: number, end: number] {
  return [dayStart(day) / length, dayStart(day + 1) / length];
}
