import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { dayName, dayOf, type Interval } from '../../time.ts';
import type { Limits, Queries, Session } from '../base/session.ts';

/** State of the store as seen by one transaction. */
interface Look {
  readonly floor: Micros;
  /** Newest day that has a table, to which rows may still be added, or null in an empty store. */
  readonly newest: number | null;
  /** Time before which the server has received everything, or null if the server is up to date. */
  readonly through: Micros | null;
}

/** Throws `invalid_query` unless both ends of the interval are safe integers and the interval ends after it starts. */
export function assertInterval({ start, end }: Interval): void {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end)) {
    throw new StoreError('invalid_query', 'an interval must end after it starts');
  }
}

/**
 * Runs queries on one snapshot of the rows of an interval. Throws `out_of_window` if the interval begins before the
 * floor. The floor is raised before a day is removed, so that a removed day never counts as empty. Throws `behind` if
 * the server has not received everything before the end of the interval.
 */
export async function readRows<T>(
  session: Session,
  interval: Interval,
  work: (queries: Queries, look: Look) => Promise<T>,
  limits?: Limits,
): Promise<T> {
  assertInterval(interval);
  return session.read(
    async (queries) => {
      const look = await lookAt(queries, session);
      assertRetained(interval, look.floor);
      assertReceived(interval, look.through);
      return work(queries, look);
    },
    {
      locked: 'observation',
      // A reader's lock on a standby does not prevent the primary from detaching a day, so the floor is checked again.
      after: async (queries) => assertRetained(interval, await floorOf(queries)),
      ...(limits && { limits }),
    },
  );
}

/**
 * Runs queries on small tables. Throws `behind` if the server has not received everything before the end of the
 * interval.
 */
export async function readState<T>(
  session: Session,
  interval: Interval,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  assertInterval(interval);
  return session.read(async (queries) => {
    assertReceived(interval, (await lookAt(queries, session)).through);
    return work(queries);
  });
}

async function lookAt(queries: Queries, session: Session): Promise<Look> {
  const [look] = await queries.rows<Look>(
    `SELECT floor, (SELECT max(day) FROM day) AS newest, ${throughIn(session)} AS through FROM store`,
  );
  if (!look) throw new StoreError('damaged', 'the table "store" has no row');
  return look;
}

/**
 * Returns the SQL expression for the time before which a server has received everything, or null if it is certainly
 * up to date. A row that the server has not received has a later stamp than the newest row of the server, and a stamp
 * at or after its newest mark. A server that was suspended while another one became the primary still reports itself
 * as the primary, but the lease that it stores is no longer renewed.
 */
export function throughIn({ place, isWriter }: Session): string {
  if (isWriter) return 'NULL::bigint';
  const isUncertain =
    place.hosts.length > 1 ? 'pg_is_in_recovery() OR expires_at <= clock_timestamp()' : 'pg_is_in_recovery()';
  return `CASE WHEN ${isUncertain} THEN greatest(floor, last_stamp + 1, mark) END`;
}

function assertReceived({ end }: Interval, through: number | null): void {
  if (through !== null && end > through) {
    throw new StoreError(
      'behind',
      `the server has received only the data before ${through} µs, but the interval ends at ${end} µs`,
    );
  }
}

async function floorOf(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ floor: number }>('SELECT floor FROM store');
  return row?.floor ?? Number.POSITIVE_INFINITY;
}

function assertRetained({ start }: Interval, floor: number): void {
  if (start < floor) throw new StoreError('out_of_window', `the interval begins before ${dayName(dayOf(floor))}`);
}
