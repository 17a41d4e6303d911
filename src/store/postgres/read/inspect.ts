import type { StoreInspection } from '../../common/inspection.ts';
import { StoreError } from '../../errors.ts';
import type { StoreProcesses } from '../../standby/standby.ts';
import { dayName } from '../../time.ts';
import type { PostgresPlace } from '../base/place.ts';
import { type Queries, Session } from '../base/session.ts';
import { askToStop, processesIn } from '../base/succession.ts';
import { assertReadable } from '../schema/migrate.ts';
import { partitionOf } from '../schema/partition.ts';
import { readPurges } from '../state/purges.ts';

type StoreRow = Pick<StoreInspection, 'heartbeat' | 'schema' | 'writing' | 'bytes'> & StoreInspection['epoch'];

/** Inspects the store in a database, with or without a running writer. */
export async function inspectPostgres(place: PostgresPlace): Promise<StoreInspection> {
  const session = new Session(place, place.target, 1);
  try {
    await assertReadable(session);
    return await session.read((queries) => inspect(queries, place.schema));
  } finally {
    await session.close();
  }
}

async function inspect(queries: Queries, schema: string): Promise<StoreInspection> {
  const [row] = await queries.rows<StoreRow>(
    `SELECT generation AS "generationId", started_at AS "startedAt", heartbeat, expires_at > clock_timestamp() AS writing,
     (SELECT max(version) FROM migration) AS schema,
     (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p')) AS bytes FROM store`,
    [schema],
  );
  if (!row) throw new StoreError('damaged', 'the table "store" has no row');
  const days = await queries.rows<{ day: number; sealed: boolean }>('SELECT day, sealed FROM day ORDER BY day');
  const tables = await queries.rows<{ name: string }>(
    'SELECT relname::text AS name FROM pg_class WHERE relnamespace = $1::regnamespace',
    [schema],
  );
  const names = new Set(tables.map(({ name }) => name));
  const { generationId, startedAt, heartbeat, writing, bytes } = row;
  return {
    ...{ schema: row.schema, epoch: { generationId, startedAt }, heartbeat, writing, bytes },
    sealedDays: days.filter(({ sealed }) => sealed).length,
    openDays: days.filter(({ sealed }) => !sealed).length,
    missingDays: days.filter(({ day }) => !names.has(partitionOf(day))).map(({ day }) => dayName(day)),
    pendingPurges: (await readPurges(queries)).filter(({ completedAt }) => completedAt === null),
    unverifiedDays: [],
  };
}

/** Returns the writer and the standby of the store in a database. */
export function postgresProcesses(place: PostgresPlace): Promise<StoreProcesses> {
  return inSession(place, async (session) => {
    await assertReadable(session);
    return session.read(processesIn);
  });
}

/** Asks the writer with the given token to stop. Returns false if another process has become the writer. */
export function askPostgresWriterToStop(place: PostgresPlace, token: string): Promise<boolean> {
  return inSession(place, (session) => askToStop(session, token));
}

async function inSession<T>(place: PostgresPlace, work: (session: Session) => Promise<T>): Promise<T> {
  // Use the primary unless the URL asks for a certain kind of server, because a standby may lag behind.
  const session = new Session(place, place.target === 'any' ? 'primary' : place.target, 1);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
