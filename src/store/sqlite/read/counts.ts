import type { LabelerCount } from '../../account-counts.ts';
import { StoreError } from '../../errors.ts';
import type { BucketCount, RefusalCount, StoreReader } from '../../port.ts';
import { day as dayLength, dayStart, hour, type Interval, micros, minute } from '../../time.ts';
import type { AddCount, DayReader } from '../day/day-reader.ts';
import { assertInterval } from './account-read.ts';
import type { Days } from './days.ts';

/** Maximum length of the interval of `countsOverTime` by bucket, in microseconds. */
const longest = { hour: 40 * dayLength, minute: 2 * dayLength } as const;

interface Closed {
  readonly counts: readonly LabelerCount[];
  readonly refusals: readonly RefusalCount[];
}

/**
 * Counts the rows and the refused labels of labelers in an interval: from counters, and from rows only at the edges of
 * the interval. Sums of days that can no longer change are cached. Therefore the cost of a query mostly depends on the
 * edges of the interval and on the newest day, not on the number of rows.
 */
export class Counts {
  readonly #days: Days;
  /**
   * Cached sums of days that no longer change, by opened file. A day that is sealed or purged is opened again, so its
   * earlier sums are not used.
   */
  readonly #closed = new WeakMap<DayReader, Closed>();

  constructor(days: Days) {
    this.#days = days;
  }

  byLabeler(interval: Interval): LabelerCount[] {
    assertInterval(interval);
    const sums = new Map<string, { applied: number; removed: number }>();
    const add: AddCount = (labeler, _bucket, applied, removed) => {
      const sum = sums.get(labeler) ?? { applied: 0, removed: 0 };
      sum.applied += applied;
      sum.removed += removed;
      sums.set(labeler, sum);
    };
    this.#days.over(interval, ({ days, newest }) => {
      sums.clear();
      for (const day of days) {
        const start = Math.max(interval.start, dayStart(day.day));
        const end = Math.min(interval.end, dayStart(day.day + 1));
        if (end - start === dayLength && day.day !== newest) {
          for (const { labeler, applied, removed } of this.#whole(day).counts) add(labeler, 0, applied, removed);
        } else {
          day.atOnce(() => countPart(day, start, end, add));
        }
      }
    });
    return [...sums]
      .map(([labeler, { applied, removed }]) => ({ labeler, applied, removed }))
      .filter(({ applied, removed }) => applied + removed > 0)
      .sort((a, b) => b.applied + b.removed - (a.applied + a.removed) || (a.labeler < b.labeler ? -1 : 1));
  }

  overTime(query: Parameters<StoreReader['countsOverTime']>[0]): BucketCount[] {
    assertInterval(query);
    const { bucket, labeler: only, start, end } = query;
    const length = bucket === 'hour' ? hour : minute;
    if (start % length !== 0 || end % length !== 0 || end - start > longest[bucket]) {
      throw new StoreError(
        'invalid_query',
        `the interval must consist of whole ${bucket}s and be at most ${longest[bucket]} µs long`,
      );
    }
    return this.#days.over(query, ({ days }) => {
      const found: BucketCount[] = [];
      for (const day of days) {
        day.counters(bucket, start / length, end / length, (labeler, at, applied, removed) => {
          if (only === undefined || only === labeler) {
            found.push({ labeler, start: micros(at * length), applied, removed });
          }
        });
      }
      return found.sort((a, b) => a.start - b.start || (a.labeler < b.labeler ? -1 : 1));
    });
  }

  refusals(interval: Interval): RefusalCount[] {
    assertInterval(interval);
    const sums = new Map<string, RefusalCount>();
    this.#days.over(interval, ({ days, newest }) => {
      sums.clear();
      for (const day of days) {
        const start = Math.max(interval.start, dayStart(day.day));
        const end = Math.min(interval.end, dayStart(day.day + 1));
        const whole = end - start === dayLength && day.day !== newest;
        for (const refusal of whole ? this.#whole(day).refusals : day.refusals(start, end)) {
          const key = `${refusal.source} ${refusal.reason}`;
          const count = (sums.get(key)?.count ?? 0) + refusal.count;
          sums.set(key, { ...refusal, count });
        }
      }
    });
    return [...sums.values()].sort((a, b) => compare(a.source, b.source) || compare(a.reason, b.reason));
  }

  /** Returns the sums of a whole day that no longer changes. */
  #whole(day: DayReader): Closed {
    let closed = this.#closed.get(day);
    if (!closed) {
      const start = dayStart(day.day);
      const counts = new Map<string, { labeler: string; applied: number; removed: number }>();
      day.counters('hour', start / hour, start / hour + 24, (labeler, _hour, applied, removed) => {
        const sum = counts.get(labeler) ?? { labeler, applied: 0, removed: 0 };
        counts.set(labeler, { labeler, applied: sum.applied + applied, removed: sum.removed + removed });
      });
      closed = { counts: [...counts.values()], refusals: day.refusals(start, start + dayLength) };
      this.#closed.set(day, closed);
    }
    return closed;
  }
}

/**
 * Counts a part of a day: from the counters of whole hours, the counters of the remaining whole minutes, and the rows
 * of the incomplete minutes at both ends.
 */
function countPart(day: DayReader, start: number, end: number, add: AddCount): void {
  const firstMinute = Math.ceil(start / minute);
  const lastMinute = Math.floor(end / minute);
  if (firstMinute > lastMinute) {
    day.edge(start, end, add);
    return;
  }
  if (start < firstMinute * minute) day.edge(start, firstMinute * minute, add);
  if (lastMinute * minute < end) day.edge(lastMinute * minute, end, add);
  const firstHour = Math.ceil(firstMinute / 60);
  const lastHour = Math.floor(lastMinute / 60);
  if (firstHour >= lastHour) {
    day.counters('minute', firstMinute, lastMinute, add);
    return;
  }
  day.counters('minute', firstMinute, firstHour * 60, add);
  day.counters('hour', firstHour, lastHour, add);
  day.counters('minute', lastHour * 60, lastMinute, add);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
