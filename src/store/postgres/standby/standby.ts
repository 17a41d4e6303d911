import type { Micros } from '../../../contract/timestamp.ts';
import { maxStampAhead } from '../../common/batch.ts';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import { identityOf } from '../../label.ts';
import { duplicateHorizon } from '../../port.ts';
import type {
  StoreInspection,
  StoreProcess,
  StoreProcesses,
  StoreStandby,
  WriterEnd,
  WriterSighting,
} from '../../standby/standby.ts';
import { dayName } from '../../time.ts';
import { processName, writerBackends } from '../base/connect.ts';
import { defaultLeaseMs, StandbyPlace, successionVersion } from '../base/lease.ts';
import type { PostgresPlace } from '../base/place.ts';
import { type Limits, longLimits, type Queries, Session } from '../base/session.ts';
import { codeOf } from '../base/sqlstates.ts';
import { readIdentities } from '../read/queries.ts';
import { readerOver } from '../read/reader.ts';
import { assertReadable, partitionOf, storeVersion } from '../schema/migrate.ts';
import { instrumentReads, readPurges } from '../state/state.ts';
import { openPostgresWriter, type PostgresWriterOptions, writerSession } from '../write/writer.ts';

/**
 * Limits for queries of the writer's state; a late result would be useless. A query that loses its connection must fail,
 * because the writer has then lost its connections too.
 */
const lookLimits: Limits = { statementMs: 1_000, replyMs: 1_000, repeats: 'nothing' };

/** Options for a standby: the options of a writer, with a clock instead of the current time. */
interface PostgresStandbyOptions extends Omit<PostgresWriterOptions, 'at' | 'standby'> {
  readonly clock: () => Micros;
}

/**
 * Opens the store in a database as the standby of its writer. The writer may be of an earlier version; taking over
 * then migrates the store. Throws `not_a_store` if the database contains no store or a store of a version that cannot
 * record its standby, and `second_writer` if another standby exists.
 */
export async function openPostgresStandby(options: PostgresStandbyOptions): Promise<StoreStandby> {
  const { place, leaseMs = defaultLeaseMs } = options;
  const session = writerSession(place, options.limits);
  try {
    const version = await storeVersion(session, options.versions);
    if (version < successionVersion) {
      const why = version === 0 ? 'contains no store' : 'was written by an earlier version; restart its writer first';
      throw new StoreError('not_a_store', `${session.name} ${why}`);
    }
    return standbyOver(options, session, await StandbyPlace.take(session, processName(), leaseMs));
  } catch (error) {
    await session.close();
    throw error;
  }
}

function standbyOver(options: PostgresStandbyOptions, session: Session, place: StandbyPlace): StoreStandby {
  const { clock } = options;
  const followed = new FollowedIdentities(session);
  let renewed: Renewal | null = null;
  /**
   * Last known backends of the current writer. Null until a query finds them; reset by a failed query or a new
   * writer.
   */
  let served: Served | null = null;
  const close = async (): Promise<void> => {
    await place.release();
    await session.close();
  };
  return {
    ...readerOver(session, close),
    ...instrumentReads((work) => session.read(work)),
    follow: (stored = () => undefined) => followed.follow(stored),
    identityOf: (label) => identityOf(label).toString('latin1'),
    knows: (identity) => followed.has(identity),
    async writer() {
      if (!place.isHeld) throw new StoreError('second_writer', 'another process has become the standby of this store');
      const before = served;
      // If the query fails, the writer may also have lost its connections, and needs time to open new connections.
      served = null;
      const found = await lookAt(session, before?.backends ?? '{}');
      renewed = found;
      const { token, backends } = found;
      const isSameWriter = before === null || before.token === token;
      if (isSameWriter) served = backends === null ? before : { token, backends };
      return found.isFree ? { kind: 'none' } : sightingOf(found, served !== null && backends === null);
    },
    endWriter: () => endLease(session, renewed),
    ready: () => place.ready(),
    async takeOver() {
      const { known, revision } = followed;
      const assertKept = (): Promise<void> => followed.assertKept();
      const standby = { session, known, revision, assertKept, place: place.number };
      const writer = await openPostgresWriter({ ...options, at: clock(), standby });
      await place.release();
      return writer;
    },
  };
}

/** State of the lease as last read. */
interface Renewal {
  readonly token: number;
  readonly holder: string | null;
  readonly renewed: string;
  /** True if no process holds the lease or its holder has given it up. */
  readonly isFree: boolean;
  /** Backends of the process that holds the lease; see `writerBackends`. */
  readonly backends: string | null;
}

/** Backends that served the writer with the given token. */
interface Served {
  readonly token: number;
  readonly backends: string;
}

async function lookAt(session: Session, backends: string): Promise<Renewal> {
  const sql = `SELECT token, holder, renewed_at::text AS renewed, expires_at = '-infinity' AS "isFree",
    ${writerBackends} AS backends FROM store`;
  const options = { limits: lookLimits, isUrgent: true };
  const [row] = await session.read((queries) => queries.rows<Renewal>(sql, [backends]), options);
  if (!row) throw new StoreError('damaged', 'the table "store" has no row');
  return row;
}

/**
 * Returns the sighting of a writer that holds the lease. The writer counts as ready even while it opens the store,
 * because it already renews its lease; a long migration therefore does not count as a hang.
 */
function sightingOf({ token, renewed }: Renewal, isGone: boolean): WriterSighting {
  return { kind: 'writing', state: 'ready', beat: `${token} ${renewed}`, isGone };
}

/**
 * Ends the lease if it is unchanged since it was `seen`. Returns `alive` if the lease was renewed or taken since
 * then, and `kept` after a transient error or if this role may not terminate sessions. First terminates sessions with
 * transactions that could still commit or would block the next writer; the sessions of a suspended process would
 * otherwise end only at their timeout.
 */
async function endLease(session: Session, seen: Renewal | null): Promise<WriterEnd> {
  if (seen === null) return { kind: 'alive' };
  const { token, holder, renewed } = seen;
  try {
    const isEnded = await session.write(async (queries) => {
      const found = 'SELECT 1 FROM store WHERE token = $1 AND renewed_at::text = $2';
      if ((await queries.rows(found, [token, renewed])).length === 0) return false;
      await queries.rows(
        `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
         WHERE l.relation = 'store'::regclass AND l.mode IN ('RowShareLock', 'RowExclusiveLock') AND l.granted
         AND a.datname = current_database() AND a.usename = current_user AND l.pid <> pg_backend_pid()
         AND a.xact_start < clock_timestamp() - interval '1 second'`,
      );
      const end = "UPDATE store SET expires_at = '-infinity' WHERE token = $1 AND renewed_at::text = $2";
      return (await queries.run(end, [token, renewed])) > 0;
    }, lookLimits);
    return isEnded ? { kind: 'ended', name: holder ?? 'unknown' } : { kind: 'alive' };
  } catch (error) {
    // 42501: the role may not terminate sessions. The next check tries again.
    if (!(error instanceof StoreError) || (!error.retry && codeOf(error.cause) !== '42501')) throw error;
    return { kind: 'kept', why: `the lease of the writer cannot be ended: ${error.message}` };
  }
}

interface Ends {
  readonly last: number | null;
  readonly floor: number;
  readonly revision: number;
}

/** Identities of the rows in a store that another process writes, kept up to date by `follow`. */
class FollowedIdentities {
  readonly #session: Session;
  #identities = new IdentitySet(duplicateHorizon);
  /** Last row read, with the id of its source. */
  #newest: { readonly at: number; readonly identity: Buffer; readonly source: number } | null = null;
  #revision: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Identities read so far, for the writer that replaces the followed writer. */
  get known(): KnownIdentities {
    return { identities: this.#identities, through: this.#newest?.at ?? -1 };
  }

  /** Revision of the rows that were read last; null before the first `follow`. */
  get revision(): number | null {
    return this.#revision;
  }

  has(identity: string): boolean {
    return this.#identities.has(Buffer.from(identity, 'latin1'));
  }

  /**
   * Reads the identities of new rows, or of all rows within the duplicate horizon if the revision has changed since the
   * last call, and calls `stored` for each. Throws `commits_lost` as `assertKept` does.
   */
  async follow(stored: (identity: string) => void): Promise<void> {
    // Not repeated, because another server may lack rows that this one has read.
    const limits: Limits = { ...longLimits, repeats: 'unbegun' };
    await this.#session.read((queries) => this.#read(queries, stored), {
      locked: 'observation',
      limits,
      isUrgent: true,
    });
  }

  /**
   * Throws `commits_lost` if the last row that was read is missing without a purge of its labeler, or if the revision has
   * decreased: the database has lost commits that this process has already seen, and may have lost others.
   */
  assertKept(): Promise<void> {
    const work = async (queries: Queries): Promise<void> => this.#assertNewest(queries, await this.#ends(queries));
    return this.#session.read(work, { locked: 'observation', isUrgent: true });
  }

  async #ends(queries: Queries): Promise<Ends> {
    const [ends] = await queries.rows<Ends>('SELECT last_stamp AS last, floor, revision FROM store');
    if (!ends) throw new StoreError('damaged', 'the table "store" has no row');
    const { last, revision } = ends;
    if (this.#revision !== null && revision < this.#revision) this.#commitsLost();
    if (this.#newest !== null && (last === null || last < this.#newest.at)) this.#commitsLost();
    return ends;
  }

  async #assertNewest(queries: Queries, { floor, revision }: Ends): Promise<void> {
    const newest = this.#newest;
    if (newest === null || newest.at < floor) return;
    const [row] = await queries.rows<{ identity: Buffer }>('SELECT identity FROM observation WHERE at = $1', [
      newest.at,
    ]);
    if (row?.identity.equals(newest.identity) === true) return;
    // A purge raises the revision. Its request is kept for as long as the day of the row, and removes no row that was
    // stored after its completion.
    const sql = `SELECT 1 FROM purge p JOIN source s ON s.did = p.source
      WHERE s.id = $1 AND (p.completed_at IS NULL OR p.completed_at >= $2)`;
    const mayBePurged = row === undefined && revision !== this.#revision;
    const purges = mayBePurged ? await queries.rows(sql, [newest.source, newest.at - maxStampAhead]) : [];
    if (purges.length === 0) this.#commitsLost();
  }

  async #read(queries: Queries, stored: (identity: string) => void): Promise<void> {
    const ends = await this.#ends(queries);
    const { last, floor, revision } = ends;
    if (this.#revision !== revision) {
      // A writer that starts after a loss raises the revision too.
      await this.#assertNewest(queries, ends);
      this.#identities = new IdentitySet(duplicateHorizon);
      this.#newest = null;
    }
    this.#revision = revision;
    if (last === null) return;
    let newest = this.#newest;
    const since = newest !== null && newest.at >= floor ? newest.at : Math.max(floor, last - duplicateHorizon);
    let isKnown = newest === null || newest.at < floor;
    await readIdentities(queries, since, (at, identity, source) => {
      if (!isKnown) {
        if (newest?.at !== at || !newest.identity.equals(identity)) this.#commitsLost();
        isKnown = true;
        return;
      }
      this.#identities.add(identity, at);
      newest = { at, identity, source };
      this.#newest = newest;
      stored(identity.toString('latin1'));
    });
    if (!isKnown) this.#commitsLost();
  }

  #commitsLost(): never {
    throw new StoreError(
      'commits_lost',
      `${this.#session.name} lost commits that it had confirmed, for example in a failover; restart the standby`,
    );
  }
}

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

interface ProcessesRow {
  readonly writing: boolean;
  readonly token: number;
  readonly holder: string | null;
  readonly renewed: string;
  readonly ready: boolean;
  readonly standing: boolean;
  readonly standby: number;
  readonly standbyHolder: string | null;
  readonly standbyReady: boolean;
  readonly standbyExpires: string;
}

/** Returns the writer and the standby; each is null if no process holds an unexpired lease or registration. */
async function processesIn(queries: Queries): Promise<StoreProcesses> {
  const [row] = await queries.rows<ProcessesRow>(
    `SELECT expires_at > clock_timestamp() AS writing, token, holder, renewed_at::text AS renewed,
     coalesce(writer_ready = token, false) AS ready, standby_expires_at > clock_timestamp() AS standing, standby,
     standby_holder AS "standbyHolder", standby_ready AS "standbyReady", standby_expires_at::text AS "standbyExpires"
     FROM store, succession`,
  );
  if (!row) throw new StoreError('damaged', 'the table "store" has no row');
  const processOf = (token: number, ready: boolean, holder: string | null, beat: string): StoreProcess => ({
    ...{ token: String(token), state: ready ? 'ready' : 'opening', pid: null, name: holder ?? 'unknown', beat },
  });
  return {
    writer: row.writing ? processOf(row.token, row.ready, row.holder, row.renewed) : null,
    standby: row.standing ? processOf(row.standby, row.standbyReady, row.standbyHolder, row.standbyExpires) : null,
  };
}

/**
 * Asks the writer with the given token to stop. The writer checks for such requests whenever it renews its lease.
 * Returns false if another process has become the writer.
 */
async function askToStop(session: Session, token: string): Promise<boolean> {
  const sql = 'UPDATE succession SET hand_over = $1 WHERE (SELECT token FROM store) = $1';
  return (await session.write((queries) => queries.run(sql, [Number(token)]))) > 0;
}
