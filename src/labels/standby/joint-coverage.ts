import type { Micros } from '../../contract/timestamp.ts';
import { clip, coalesce } from '../../store/gaps.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';
import { type Interval, micros } from '../../store/time.ts';

/** Gaps and progress of the former writer and the standby, for one source or for the whole instrument. */
interface JointReading {
  /** Gaps that the former writer recorded. */
  readonly stored: readonly StoredGap[];
  /** Time up to which the former writer had stored all labels or recorded a gap; null if there is no such time. */
  readonly storedThrough: Micros | null;
  /** Gaps of the standby. */
  readonly own: readonly StoredGap[];
  /** Interruptions of the whole standby; given only if the changes for one source are computed. */
  readonly interruptions?: readonly StoredGap[];
  /**
   * Interval in which the standby read live, except in its gaps. The interval begins when the standby had read all
   * earlier labels. Null if the standby never read live.
   */
  readonly live: Interval | null;
  /**
   * Interval whose labels the standby read live or filled in, except in its gaps; null or absent if there is no such
   * interval.
   */
  readonly read?: Interval | null;
}

/**
 * Returns changes after which the recorded gaps are exactly the time that neither instrument read. Records gaps of
 * the standby for the time that the former writer had not stored. Withdraws gaps of the former writer for the time in
 * which the standby read live, and the gap of an outage also for the time whose labels the standby filled in. Never
 * withdraws an `unknown` gap, which replaces several gaps, or a `maintenance` gap, whose rows were removed on
 * request.
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
  // Outages of the former writer that the standby has filled in.
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
