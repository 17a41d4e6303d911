import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { dayName, dayOf, type Interval } from '../../time.ts';
import type { Limits, Queries, Session } from '../base/session.ts';

/** State of the store as of one transaction. */
export interface Look {
  readonly floor: Micros;
  /** Newest day with a table, to which rows may still be added; null in an empty store. */
  readonly newest: number | null;
}

/** Throws `invalid_query` unless the interval ends after it starts. */
export function assertInterval({ start, end }: Interval): void {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end)) {
    throw new StoreError('invalid_query', 'an interval must end after it starts');
  }
}

/**
 * Runs queries on one state of the rows of an interval. Throws `out_of_window` if the interval begins before the floor,
 * which is raised before a day is removed.
 */
export async function readRows<T>(
  session: Session,
  interval: Interval,
  work: (queries: Queries, look: Look) => Promise<T>,
  limits?: Limits,
): Promise<T> {
  assertInterval(interval);
  const { result, isStandby } = await session.read(
    async (queries, standby) => {
      const [look] = await queries.rows<Look>('SELECT floor, (SELECT max(day) FROM day) AS newest FROM store');
      if (!look) throw new StoreError('damaged', 'the table of the store has no row');
      assertRetained(interval, look.floor);
      return { result: await work(queries, look), isStandby: standby };
    },
    { locked: 'observation', ...(limits && { limits }) },
  );
  // The lock of a reader on a standby does not keep the primary from detaching a day.
  if (isStandby) assertRetained(interval, await session.read(floorOf));
  return result;
}

async function floorOf(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ floor: number }>('SELECT floor FROM store');
  return row?.floor ?? Number.POSITIVE_INFINITY;
}

function assertRetained({ start }: Interval, floor: number): void {
  if (start < floor) throw new StoreError('out_of_window', `the interval begins before ${dayName(dayOf(floor))}`);
}
