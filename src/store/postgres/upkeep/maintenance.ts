import pg from 'pg';
import type { Micros } from '../../../contract/timestamp.ts';
import type { RemovalDays, RemovalProgress } from '../../common/removal-progress.ts';
import { StoreError } from '../../errors.ts';
import { identityBytes } from '../../label.ts';
import { duplicateHorizon, type Maintenance } from '../../port.ts';
import { dayFromName, dayName, dayOf, dayStart, daysUntilExpiry, hour, minute } from '../../time.ts';
import type { Lease } from '../base/lease.ts';
import { longLimits, type Queries, type Session } from '../base/session.ts';
import { recountGroups } from '../count/counters.ts';
import { partitionOf } from '../schema/migrate.ts';

/** State and options of the upkeep of a store. */
interface Upkeep {
  readonly session: Session;
  readonly lease: Lease;
  readonly windowDays: number;
  /** Aborts the work in progress; a later run repeats it. */
  readonly signal: AbortSignal;
}

/**
 * Drops the oldest day if it ended more than a day before the window, removes the tables of dropped days, and seals
 * days that can no longer receive duplicates. The newest day is neither dropped nor sealed. Sealing uses the last
 * stamp instead of the wall clock if the stamp is earlier, so that a clock that jumped ahead does not seal days to
 * which rows will still be added.
 */
export async function maintainDays(upkeep: Upkeep, at: Micros, last: Micros | null): Promise<Maintenance> {
  const expired = await expire(upkeep, at);
  await dropTables(upkeep);
  const sealed: string[] = [];
  const postponed: string[] = [];
  const stamped = Math.min(at, last ?? 0);
  const days = await upkeep.session.read((queries) =>
    queries.rows<{ day: number; sealed: boolean }>('SELECT day, sealed FROM day ORDER BY day'),
  );
  for (const { day, sealed: isSealed } of days.slice(0, -1)) {
    if (isSealed || dayStart(day + 1) + duplicateHorizon >= stamped) continue;
    ((await seal(upkeep, day)) ? sealed : postponed).push(dayName(day));
  }
  return { sealed, postponed, expired };
}

/**
 * Stores the counts of all hot accounts of a day and marks the day as sealed. Returns false after a transient error; a
 * later run then tries again.
 */
async function seal({ session, lease, signal }: Upkeep, day: number): Promise<boolean> {
  try {
    await session.write(
      async (queries) => {
        await lease.check(queries);
        await recountGroups(queries, day);
        await queries.run('UPDATE day SET sealed = true WHERE day = $1', [day]);
      },
      { ...longLimits, signal },
    );
  } catch (error) {
    if (error instanceof StoreError && error.retry) return false;
    throw error;
  }
  // After a freeze, reads no longer have to check the visibility of the rows.
  const table = `${pg.escapeIdentifier(session.place.schema)}.${partitionOf(day)}`;
  await attempt(() => session.outside(`VACUUM (FREEZE, ANALYZE) ${table}`, signal));
  return true;
}

/**
 * If the oldest day ended more than a day before the window and is not the newest day, deletes all data derived from its
 * rows and raises the floor to the end of the day, in one commit. Readers then no longer query the day, so that its
 * table can be dropped. Returns the name of the day, or an empty list if no day expired.
 */
async function expire({ session, lease, windowDays, signal }: Upkeep, at: Micros): Promise<string[]> {
  // Retain one day more than the window for exports that are still running.
  const lastDay = dayOf(at) - daysUntilExpiry(windowDays);
  return session.write(
    async (queries) => {
      await lease.check(queries);
      const [oldest, next] = await queries.rows<{ day: number }>('SELECT day FROM day ORDER BY day LIMIT 2');
      if (!oldest || !next || oldest.day > lastDay) return [];
      const floor = dayStart(oldest.day + 1);
      const deletions: readonly (readonly [string, number])[] = [
        ['day WHERE day <= $1', oldest.day],
        ['account_group WHERE day <= $1', oldest.day],
        ['labeler_count WHERE day <= $1', oldest.day],
        ['counter_minute WHERE minute < $1', floor / minute],
        ['counter_hour WHERE hour < $1', floor / hour],
        ['refusal WHERE hour < $1', floor / hour],
        ['purge WHERE completed_at <= $1', floor],
      ];
      for (const [table, bound] of deletions) await queries.run(`DELETE FROM ${table}`, [bound]);
      // Raise the floor only after these deletions, which may take long: the row lock blocks appends and renewals of the
      // lease until the commit. A request to purge locks the tables `purge`, `store` and `gap` in the same order.
      await queries.run('UPDATE store SET floor = greatest(floor, $1)', [floor]);
      await queries.run('DELETE FROM gap WHERE ended <= $1', [floor]);
      return [dayName(oldest.day)];
    },
    { ...longLimits, signal },
  );
}

/** Drops the tables of days that are no longer listed. Detaching a table does not block readers of other days. */
async function dropTables({ session, lease, signal }: Upkeep): Promise<void> {
  const { schema } = session.place;
  // Complete a postponed detach first: until then, PostgreSQL refuses to detach another table.
  const tables = await session.read((queries) =>
    queries.rows<{ name: string; attached: boolean; pending: boolean }>(
      `SELECT c.relname::text AS name, i.inhrelid IS NOT NULL AS attached, coalesce(i.inhdetachpending, false) AS pending
       FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
       WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND c.relname ~ '^observation_\\d{4}_\\d\\d_\\d\\d$'
       ORDER BY pending DESC, name`,
      [schema],
    ),
  );
  const listed = await session.read((queries) => queries.rows<{ day: number }>('SELECT day FROM day'));
  const days = new Set(listed.map(({ day }) => day));
  for (const { name, attached, pending } of tables) {
    const day = dayFromName(name.slice('observation_'.length).replaceAll('_', '-'));
    if (day === null || days.has(day)) continue;
    const ended = await attempt(async () => {
      if (attached) {
        const how = pending ? 'FINALIZE' : 'CONCURRENTLY';
        const quoted = pg.escapeIdentifier(schema);
        await session.outside(`ALTER TABLE ${quoted}.observation DETACH PARTITION ${quoted}.${name} ${how}`, signal);
      }
      await session.write(async (queries) => {
        await lease.check(queries);
        await queries.run(`DROP TABLE ${name}`);
      });
    });
    // A long read blocks the removal; a later run tries again.
    if (!ended) return;
  }
}

/** Runs work that may be postponed. Returns false after a transient error; a later run then repeats the work. */
async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.retry) return false;
    throw error;
  }
}

/** Number of rows per FETCH. */
const identitiesAtOnce = 20_000;

/** A damaged sealed day that a purge left unchanged. */
export interface LeftDay {
  /** Name of its table. */
  readonly name: string;
  readonly day: string;
  readonly action: 'left';
  readonly reason: string;
}

/** State and options of a purge. */
interface PurgeWork {
  readonly session: Session;
  readonly lease: Lease;
  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  readonly progress: RemovalProgress;
  readonly onLeft: (day: LeftDay) => void;
  /** Aborts the work in progress; a later run repeats it. */
  readonly signal: AbortSignal;
}

interface PurgeRequest {
  readonly source: string;
  readonly requestedAt: Micros;
  /** First day that the purge has not completed. Some later days may already be completed. */
  readonly nextDay: number;
}

interface StoredDay {
  readonly day: number;
  readonly sealed: boolean;
}

/** Removal of the rows of a request from one day. */
interface PurgeStep extends StoredDay {
  readonly source: string;
  /** First day that is not completed after this step. */
  readonly nextDay: number;
  readonly days: RemovalDays;
}

/** Step that a transaction has begun; null before that. */
interface Begun {
  step: PurgeStep | null;
}

/**
 * Removes the rows of the oldest request that can be processed from its next day, with all data derived from them, in one
 * commit: readers see the day either before or after the removal. Appends wait only at the end of the transaction: from
 * the change of the revision, or, on the newest day, from the change of its counters. If no day is left, records the
 * request as completed. Leaves a damaged sealed day unchanged and reports it. Returns false if no work remains other than
 * damaged days.
 */
export async function purgeNextDay(work: PurgeWork, at: Micros): Promise<boolean> {
  const begun: Begun = { step: null };
  let isLeft = false;
  const isMore = await purgeNext(work, at, begun).catch((error: unknown) => {
    if (begun.step === null) throw error;
    reportDamaged(work, begun.step, error);
    isLeft = true;
    return true;
  });
  if (begun.step !== null) begun.step.days[isLeft ? 'damaged' : 'done'].add(begun.step.day);
  return isMore;
}

function purgeNext(
  { session, lease, forget, progress, signal }: PurgeWork,
  at: Micros,
  begun: Begun,
): Promise<boolean> {
  let identities: readonly Buffer[] = [];
  const purged = session.write(
    async (queries) => {
      identities = [];
      begun.step = null;
      await lease.check(queries);
      const pending = await queries.rows<PurgeRequest>(
        `SELECT source, requested_at AS "requestedAt", next_day AS "nextDay" FROM purge
         WHERE completed_at IS NULL ORDER BY requested_at, source`,
      );
      if (pending.length === 0) return false;
      const stored = await queries.rows<StoredDay>('SELECT day, sealed FROM day ORDER BY day');
      for (const request of pending) {
        const next = nextStep(stored, request, progress.daysOf(request));
        if (next === 'damaged') continue;
        if (next === 'none') {
          await queries.run('UPDATE purge SET completed_at = $2 WHERE source = $1', [request.source, at]);
          progress.forget(request);
          return pending.length > 1;
        }
        begun.step = next;
        identities = await purgeDay(queries, next);
        return true;
      }
      return false;
    },
    { ...longLimits, signal },
  );
  // Also after an error, because the commit may be stored although its reply was lost. If it is not stored, the day is
  // purged again; the source stays denied until the purge is completed, so none of its labels is appended before that.
  return purged.finally(() => {
    for (const packed of identities) {
      const count = packed.length / identityBytes;
      forget(Array.from({ length: count }, (_, i) => packed.subarray(i * identityBytes, (i + 1) * identityBytes)));
    }
  });
}

/** Returns the next step of a request, `none` if no day remains, or `damaged` if only damaged days remain. */
function nextStep(
  stored: readonly StoredDay[],
  { source, nextDay }: PurgeRequest,
  days: RemovalDays,
): PurgeStep | 'none' | 'damaged' {
  const remaining = stored.filter(({ day }) => day >= nextDay && !days.done.has(day));
  if (remaining.length === 0) return 'none';
  const next = remaining.find(({ day }) => !days.damaged.has(day));
  if (!next) return 'damaged';
  const other = remaining.find(({ day }) => day !== next.day);
  return { ...next, source, days, nextDay: other?.day ?? next.day + 1 };
}

/**
 * Reports a sealed day that is damaged, because damage to one old day must not stop the writer. Throws any other error,
 * and any error after the store was closed.
 */
function reportDamaged({ onLeft, signal }: PurgeWork, { day, sealed, source }: PurgeStep, error: unknown): void {
  if (signal.aborted || !sealed || !(error instanceof StoreError) || error.code !== 'damaged') throw error;
  const what = `rows of ${source} were not removed from the day, and their purge is incomplete`;
  onLeft({ name: partitionOf(day), day: dayName(day), action: 'left', reason: `${what}: ${error.message}` });
}

/** Removes the rows of a source from a day; returns the identities of these rows, concatenated in buffers. */
async function purgeDay(queries: Queries, { source, day, nextDay }: PurgeStep): Promise<Buffer[]> {
  const [known] = await queries.rows<{ id: number }>('SELECT id FROM source WHERE did = $1', [source]);
  const id = known?.id ?? 0;
  const identities = await identitiesOf(queries, id, day);
  const removed = await queries.run(`DELETE FROM ${partitionOf(day)} WHERE source = $1`, [id]);
  const [start, end] = [dayStart(day), dayStart(day + 1)];
  // Only the newest day gets further counts. Lock the row for it: the update waits for the commit of an append in
  // progress and blocks the next append, so that no counts are added before this transaction ends. The counters of an
  // earlier day may have to be read from the disk, during which appends and renewals of the lease must not wait.
  await queries.run('UPDATE store SET observed_through = observed_through WHERE (SELECT max(day) FROM day) = $1', [
    day,
  ]);
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
    nextDay,
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
