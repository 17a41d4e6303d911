import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { duplicateHorizon, type Maintenance } from '../../port.ts';
import { dayFromName, dayName, dayOf, dayStart, hour, minute } from '../../time.ts';
import type { Lease } from '../base/lease.ts';
import { longLimits, type Session } from '../base/session.ts';
import { recountGroups } from '../count/hot-accounts.ts';
import { partitionOf } from '../schema/partition.ts';

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
  await attempt(() => session.outside(`VACUUM (FREEZE, ANALYZE) ${session.place.schema}.${partitionOf(day)}`, signal));
  return true;
}

/**
 * If the oldest day ended more than a day before the window and is not the newest day, raises the floor to the end of
 * the oldest day and deletes all data derived from its rows, in one commit. Readers then no longer query the day, so
 * that its table can be dropped. Returns the name of the day, or an empty list if no day expired.
 */
async function expire({ session, lease, windowDays, signal }: Upkeep, at: Micros): Promise<string[]> {
  // Retain one day more than the window for exports that are still running.
  const floorDay = dayOf(at) - windowDays - 1;
  return session.write(
    async (queries) => {
      await lease.check(queries);
      const [oldest, next] = await queries.rows<{ day: number }>('SELECT day FROM day ORDER BY day LIMIT 2');
      if (!oldest || !next || oldest.day >= floorDay) return [];
      const floor = dayStart(oldest.day + 1);
      await queries.run('UPDATE store SET floor = greatest(floor, $1)', [floor]);
      const deletions: readonly (readonly [string, number])[] = [
        ['day WHERE day <= $1', oldest.day],
        ['account_group WHERE day <= $1', oldest.day],
        ['labeler_count WHERE day <= $1', oldest.day],
        ['counter_minute WHERE minute < $1', floor / minute],
        ['counter_hour WHERE hour < $1', floor / hour],
        ['refusal WHERE hour < $1', floor / hour],
        ['gap WHERE ended <= $1', floor],
        ['purge WHERE completed_at <= $1', floor],
      ];
      for (const [table, bound] of deletions) await queries.run(`DELETE FROM ${table}`, [bound]);
      return [dayName(oldest.day)];
    },
    { ...longLimits, signal },
  );
}

/** Drops the tables of days that are no longer listed. Detaching a table does not block readers of other days. */
async function dropTables({ session, lease, signal }: Upkeep): Promise<void> {
  const { schema } = session.place;
  const tables = await session.read((queries) =>
    queries.rows<{ name: string; attached: boolean; pending: boolean }>(
      `SELECT c.relname::text AS name, i.inhrelid IS NOT NULL AS attached, coalesce(i.inhdetachpending, false) AS pending
       FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
       WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND c.relname ~ '^observation_\\d{4}_\\d\\d_\\d\\d$'`,
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
        await session.outside(`ALTER TABLE ${schema}.observation DETACH PARTITION ${schema}.${name} ${how}`, signal);
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
