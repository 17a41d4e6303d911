import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import { DayWork } from '../../common/batch.ts';
import type { KnownIdentities } from '../../common/identity-set.ts';
import { keepIdentities, takeIdentities } from '../../common/kept-identities.ts';
import { RemovalProgress } from '../../common/removal-progress.ts';
import { assertNotMoved, movedNote, StoreError } from '../../errors.ts';
import type { StoreWriter } from '../../port.ts';
import { processName } from '../base/connect.ts';
import { defaultLeaseMs, Lease, silentDurations, successionVersion } from '../base/lease.ts';
import type { PostgresPlace } from '../base/place.ts';
import { type Limits, type Queries, Session } from '../base/session.ts';
import { readerOver } from '../read/reader.ts';
import { assertFinished, migrate, storeVersion } from '../schema/migrate.ts';
import { instrumentReads, stateChanges } from '../state/state.ts';
import { type LeftDay, maintainDays, purgeNextDay } from '../upkeep/maintenance.ts';
import { Acceptance } from './acceptance.ts';

/** Options for opening a store for writing. */
export interface PostgresWriterOptions {
  readonly place: PostgresPlace;
  /** Current time of the acceptance clock, in microseconds; the start of the epoch if the store is new. */
  readonly at: Micros;
  /** Number of whole days that can be queried; one more day is retained. */
  readonly windowDays?: number;
  /** Generates the random id of a new store's generation; absent for a UUID. */
  readonly generationId?: () => string;
  /** Time without a renewal after which another process may take the writer's lease, in milliseconds. */
  readonly leaseMs?: number;
  /** Limits of short transactions; absent for the defaults. */
  readonly limits?: Limits;
  /**
   * Acceptance clock for periodic marks; see `startMarks`. Returns null while the clock is doubtful, and after a step.
   * Without this clock, a standby of the database can determine only from batches how current its data is.
   */
  readonly markClock?: () => Micros | null;
  /** Statements of each schema version; absent for the versions of this program. */
  readonly versions?: readonly string[];
  /**
   * File in which this writer keeps the identities of the store's rows for its next start; see `keepIdentities`. Absent
   * if each start reads them from the rows.
   */
  readonly identitiesFile?: string;
  /** Called once, when `askToStop` asks this writer to stop. */
  readonly asked?: () => void;
  /** Called for each damaged day that a purge leaves unchanged. */
  readonly onFile?: (day: LeftDay) => void;
  /** State of the standby that becomes the writer; absent if the writer was not a standby. */
  readonly standby?: OpeningStandby;
}

/** State that a standby passes to the writer that it becomes. */
interface OpeningStandby {
  readonly session: Session;
  /** Identities that the standby has read. */
  readonly known: KnownIdentities;
  /** Revision of the rows with these identities; null if the standby has read none. */
  readonly revision: number | null;
  /** Throws `commits_lost` if the database has lost rows that the standby has read. */
  readonly assertKept: () => Promise<void>;
  /** Number of the standby's registration. */
  readonly place: number;
}

const defaultWindowDays = 30;
/**
 * Minimum number of connections of a writer: one each for batches, other changes, upkeep and reads. The lease has one
 * more.
 */
export const minConnections = 4;

/** Creates the session of a writer, or of a standby that may become one. */
export function writerSession(place: PostgresPlace, limits?: Limits): Session {
  return new Session(place, 'writer', Math.max(minConnections, place.connections), limits);
}

/**
 * Opens the store in a database for writing. Creates a missing store if the role may create its schema, and migrates a
 * store of an earlier version. Throws `second_writer` if another process writes to the store or a standby is about to
 * become the writer, `moved` if a copy has replaced the store, and `unfinished_copy` for an incomplete copy.
 */
export async function openPostgresWriter(options: PostgresWriterOptions): Promise<StoreWriter> {
  const { place, at, windowDays = defaultWindowDays, leaseMs = defaultLeaseMs, standby } = options;
  const { asked = () => undefined } = options;
  const session = standby?.session ?? writerSession(place, options.limits);
  let lease: Lease | null = null;
  try {
    const version = await storeVersion(session, options.versions);
    if (version === 0) await migrate(session, at, options);
    await beginEpoch(session, options.generationId ?? randomUUID, at);
    const mayTake = version < successionVersion ? undefined : succession(standby?.place ?? null, leaseMs);
    lease = await Lease.take(new Session(place, 'writer', 1, options.limits), processName(), leaseMs, mayTake);
    // Check under the lease, because a copy retires the store while it holds the lease.
    await session.read(assertNotRetired, { isUrgent: true });
    // Migrate only after taking the lease: the schema must not change while another process writes to the store.
    await migrate(session, at, options);
    const kept = await keptBy(session, lease, options.identitiesFile ?? null, standby ?? null);
    const acceptance = new Acceptance(session, lease, kept.known);
    await acceptance.load();
    await lease.opened(session, asked);
    const marks = options.markClock ? startMarks(acceptance, options.markClock) : null;
    const { onFile: onLeft = () => undefined } = options;
    return writerOver({ session, lease, acceptance, marks, windowDays, onLeft, keep: kept.keep });
  } catch (error) {
    await lease?.release();
    // Keep the session of a standby, which continues to read.
    if (standby === undefined) await session.close();
    throw error;
  }
}

/** Identities of the store's rows, which need not be read, and the function that keeps them for the next writer. */
interface Kept {
  readonly known: KnownIdentities | null;
  readonly keep: (known: KnownIdentities) => Promise<void>;
}

/** Rows of a store, as its last writer left them. */
interface LeftRows {
  readonly generation: string;
  readonly last: Micros | null;
  readonly revision: number;
}

/**
 * Returns the identities that a standby has read, or else those that the last writer kept. The latter are those of the
 * store's rows only if the holder of the lease before this one wrote the file, and if its last row is still the last
 * one: after a failover, rows may be missing. Throws `commits_lost` if the database has lost rows that the standby has
 * read.
 */
async function keptBy(
  session: Session,
  lease: Lease,
  file: string | null,
  standby: OpeningStandby | null,
): Promise<Kept> {
  await standby?.assertKept();
  const sql = 'SELECT generation, last_stamp AS last, revision FROM store';
  const [row] = await session.read((queries) => queries.rows<LeftRows>(sql), { isUrgent: true });
  // The standby may have read rows that were purged since then.
  const read = standby === null || standby.revision !== row?.revision ? null : standby.known;
  if (file === null) return { known: read, keep: () => Promise.resolve() };
  const stateName = (token: number): string => `${row?.generation ?? ''} ${token}`;
  let known: KnownIdentities | null = null;
  try {
    if (read === null) known = takeIdentities(file, stateName(lease.former));
  } catch {
    // The file cannot be removed. No later writer uses it either, because each lease has another token.
  }
  return {
    known: read ?? (known?.through === (row?.last ?? -1) ? known : null),
    keep: (identities) => keepIdentities(file, identities, stateName(lease.token)),
  };
}

async function beginEpoch(session: Session, generationId: () => string, at: Micros): Promise<void> {
  const sql = 'INSERT INTO store(generation, started_at, floor) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING';
  await session.write(async (queries) => {
    // If a copy begins at the same time, the insertion waits until the copy has begun, and the check then finds the
    // copy.
    await queries.run(sql, [generationId(), at]);
    await assertFinished(queries, session.name);
  });
}

interface Writing {
  readonly session: Session;
  readonly lease: Lease;
  readonly acceptance: Acceptance;
  readonly marks: Marks | null;
  readonly windowDays: number;
  readonly onLeft: (day: LeftDay) => void;
  /** Keeps the identities for the next start. */
  readonly keep: (known: KnownIdentities) => Promise<void>;
}

function writerOver(writing: Writing): StoreWriter {
  const { session, lease, acceptance, marks } = writing;
  const stopping = new AbortController();
  const dayWork = dayWorkOf(writing, stopping.signal);
  let closing: Promise<void> | null = null;
  let changes: Promise<unknown> = Promise.resolve();

  /** Runs work; throws `closed` if the store was closed. */
  async function open<T>(work: () => Promise<T>): Promise<T> {
    if (closing) throw new StoreError('closed', 'the store was closed');
    return work();
  }

  /** Runs a change in a transaction that checks the lease. Changes run one by one, in the order of the calls. */
  function change<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return open(() => {
      const done = changes.then(() =>
        session.write(async (queries) => {
          await lease.check(queries);
          return work(queries);
        }),
      );
      changes = done.catch(() => undefined);
      return done;
    });
  }

  async function close(): Promise<void> {
    marks?.stop();
    // Abort work on whole days, so that a standby does not have to wait for it.
    stopping.abort();
    await dayWork.ended();
    await acceptance.ended();
    await changes;
    await leave(writing);
  }

  return {
    ...readerOver(session, () => Promise.resolve()),
    ...stateChanges(change),
    ...instrumentReads(change),
    beat: (at) => change((queries) => writeBeat(queries, acceptance, at)),
    tokens: { own: lease.token, former: lease.former },
    append: (batch) => open(() => acceptance.append(batch)),
    assertWriter: () => change(() => Promise.resolve()),
    maintain: (at) => open(() => dayWork.maintain(at)),
    purge: (at) => open(() => dayWork.purge(at)),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Returns the work on whole days, which `signal` aborts. */
function dayWorkOf({ session, lease, acceptance, windowDays, onLeft }: Writing, signal: AbortSignal) {
  const work = new DayWork();
  const progress = new RemovalProgress();
  const forget = (identities: readonly Buffer[]): void => acceptance.forget(identities);
  return {
    maintain: work.joined((at: Micros) => maintainDays({ session, lease, windowDays, signal }, at, acceptance.last)),
    purge: work.joined((at: Micros) => purgeNextDay({ session, lease, forget, progress, onLeft, signal }, at)),
    ended: () => work.ended(),
  };
}

/** Keeps the identities, which no longer change, and gives up the lease. */
async function leave({ session, lease, acceptance, keep }: Writing): Promise<void> {
  // The next writer need not wait for the file: without it, it reads the rows.
  const kept = acceptance.known === null ? Promise.resolve() : keep(acceptance.known);
  await lease.release();
  await session.close();
  await kept;
}

/**
 * Stores a heartbeat, which states that everything before it is either stored or recorded as a gap. Throws
 * `commits_lost` if the database lacks a batch that this writer has committed.
 */
async function writeBeat(queries: Queries, acceptance: Acceptance, at: Micros): Promise<void> {
  await acceptance.assertKept(queries);
  await queries.run('UPDATE store SET heartbeat = greatest(heartbeat, $1)', [at]);
}

/** Interval between marks, in milliseconds. A standby derives from the marks how current its data is. */
const everyMs = 1_000;

/** Handle of the periodic marks. */
interface Marks {
  /** Stops the timer; a mark in progress completes. */
  stop(): void;
}

/**
 * Stores a mark every second. A standby of the database that has received a mark has also received every row with an
 * earlier stamp, so that its progress is known even if no labels arrive. The time of a doubtful clock is not stored: no
 * row gets a stamp before a mark, and a mark in the future would therefore end acceptance until then.
 */
function startMarks(acceptance: Pick<Acceptance, 'mark'>, clock: () => Micros | null): Marks {
  let isRunning = false;
  const timer = setInterval(() => {
    const at = clock();
    if (isRunning || at === null) return;
    isRunning = true;
    // Ignore the error: the next batch reports the same failure to the instrument.
    void acceptance
      .mark(at)
      .catch(() => undefined)
      .finally(() => {
        isRunning = false;
      });
  }, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Returns a check for the transaction that takes the lease. The check throws `second_writer` if a ready standby other
 * than `own` is about to become the writer: only the standby can take over without a gap. A registration that lasts
 * longer than a living standby can have set it is ignored: the server's clock was set back since its last renewal.
 */
function succession(own: number | null, leaseMs: number): (queries: Queries) => Promise<void> {
  return async (queries) => {
    const [row] = await queries.rows<{ holder: string | null }>(
      `SELECT standby_holder AS holder FROM succession
       WHERE standby_ready AND standby_expires_at > clock_timestamp() AND standby IS DISTINCT FROM $1
       AND standby_expires_at < clock_timestamp() + $2 * interval '1 millisecond'`,
      [own, silentDurations * leaseMs],
    );
    if (row) throw new StoreError('second_writer', `the standby is becoming the writer: ${row.holder ?? 'unknown'}`);
  };
}

/** Throws `moved` if the store was retired because a copy has replaced it. */
async function assertNotRetired(queries: Queries): Promise<void> {
  const [row] = await queries.rows<{ content: string }>('SELECT content FROM note WHERE name = $1', [movedNote]);
  assertNotMoved(row?.content ?? null);
}
