import type { Micros } from '../../contract/timestamp.ts';
import { clip, coalesce } from '../../store/gaps.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';
import { type Interval, micros } from '../../store/time.ts';

/** Reading of one source, or of the whole instrument, by both instruments. */
export interface JointReading {
  /** Gaps that the former writer recorded. */
  readonly stored: readonly StoredGap[];
  /** Time until which the former writer had stored all labels or recorded a gap; null if it never had. */
  readonly storedThrough: Micros | null;
  /** Gaps of the standby. */
  readonly own: readonly StoredGap[];
  /** Interruptions of the whole standby, for a source; absent if there are none. */
  readonly interruptions?: readonly StoredGap[];
  /**
   * Time in which the standby read live, except its gaps: from the moment at which it had read all earlier labels. Null
   * if there was no such moment.
   */
  readonly live: Interval | null;
  /** Time of which the standby read all labels except in its gaps, some of them later; absent if there is none. */
  readonly read?: Interval | null;
}

/**
 * Returns the changes after which exactly the time that neither instrument read is a gap. Gaps of the standby are
 * recorded as far as the former writer had not stored that time. Gaps of the former writer are withdrawn where the
 * standby read live. An `unknown` gap, which stands for several others, and a `maintenance` gap, whose rows were removed on
 * request, are never withdrawn. The gap of an outage is also withdrawn where the standby read its labels afterwards.
 */
export function jointChanges({ stored, storedThrough, own, interruptions = [], live, read = null }: JointReading): {
  readonly records: readonly GapChange[];
  readonly withdrawals: readonly GapChange[];
} {
  const from = storedThrough ?? micros(0);
  const records = clip(own, { start: from, end: micros(Number.MAX_SAFE_INTEGER) });
  const readLive = live === null ? [] : without(live, [...own, ...interruptions]);
  const withdrawals = stored
    .filter(({ reason }) => reason !== 'unknown' && reason !== 'maintenance')
    .flatMap((gap) => readLive.flatMap((interval) => clip([gap], interval)));
  // An outage that the standby has filled in, before the former writer could.
  const filledIn = read === null ? [] : without(read, own);
  const outages = stored.filter(({ reason }) => reason === 'source_unavailable');
  withdrawals.push(...outages.flatMap((gap) => filledIn.flatMap((interval) => clip([gap], interval))));
  return {
    records: records.map((gap) => ({ kind: 'record', gap })),
    withdrawals: withdrawals.map((gap) => ({ kind: 'withdraw', gap })),
  };
}

/** Returns the parts of an interval that no gap covers. */
function without(interval: Interval, gaps: readonly StoredGap[]): Interval[] {
  const free: Interval[] = [];
  let { start } = interval;
  for (const gap of coalesce(gaps)) {
    if (gap.start > start) free.push({ start, end: micros(Math.min(gap.start, interval.end)) });
    start = micros(Math.max(start, gap.end));
  }
  free.push({ start, end: interval.end });
  return free.filter((one) => one.start < one.end && one.start >= interval.start);
}
