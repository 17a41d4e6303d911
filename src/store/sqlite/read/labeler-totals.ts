import type { LabelersCounters } from '../../labeler-counters.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { DayReader } from '../day/day-reader.ts';
import { isEmpty } from '../labeler/day-counters.ts';
import { LabelerSum } from '../labeler/labeler-sum.ts';
import { assertInterval } from './account-read.ts';
import type { Days } from './days.ts';

type Sums = ReadonlyMap<string, LabelerSum>;

/** Maximum number of sets of days whose sums are cached. */
const maxCached = 3;

/** Sums of the counters of all labelers over days. The sum of the days that no longer change is cached. */
export class LabelerTotals {
  readonly #days: Days;
  /** Sums by the serial numbers of the files. A day that is sealed or purged gets another open file. */
  readonly #closed = new Map<string, Sums>();

  constructor(days: Days) {
    this.#days = days;
  }

  over(interval: Interval): LabelersCounters {
    assertInterval(interval);
    return this.#days.over(interval, ({ days, newest, floor }) => {
      const closed = this.#sumsOf(days.filter(({ day }) => day !== newest));
      const open = days.find(({ day }) => day === newest);
      const today = open ? open.atOnce(() => sumsOfDays([open])) : new Map<string, LabelerSum>();
      for (const [labeler, sum] of today) {
        const before = closed.get(labeler);
        if (before) sum.add(before);
      }
      const labelers = [...new Set([...closed.keys(), ...today.keys()])].sort();
      const since = Math.max(dayStart(dayOf(interval.start)), floor, ...days.map(uncountedUntil));
      return {
        since: micros(since),
        labelers: labelers.flatMap((labeler) => {
          const sum = today.get(labeler) ?? closed.get(labeler);
          return sum ? [sum.counters(labeler)] : [];
        }),
      };
    });
  }

  /** Returns the sums of days that no longer change. */
  #sumsOf(days: readonly DayReader[]): Sums {
    const key = days.map(({ serial }) => serial).join(' ');
    const known = this.#closed.get(key);
    if (known) return known;
    const sums = sumsOfDays(days);
    const [oldest] = this.#closed.keys();
    if (this.#closed.size >= maxCached && oldest !== undefined) this.#closed.delete(oldest);
    this.#closed.set(key, sums);
    return sums;
  }
}

/** Returns the instant before which a day's rows are not counted; 0 if all of its rows are counted. */
function uncountedUntil(day: DayReader): number {
  const from = day.labelerCounters.from();
  return from > dayStart(day.day) ? from : 0;
}

function sumsOfDays(days: readonly DayReader[]): Map<string, LabelerSum> {
  const sums = new Map<string, LabelerSum>();
  for (const day of days) {
    // The counters of a labeler whose rows were purged are empty.
    const counted = [...day.labelerCounters.all()].filter(([, counters]) => !isEmpty(counters));
    const names = day.namesOf('source', new Set(counted.map(([source]) => source)));
    const values = day.namesOf('val', new Set(counted.flatMap(([, counters]) => [...counters.values.keys()])));
    for (const [source, counters] of counted) {
      const labeler = names.get(source) ?? '';
      const sum = sums.get(labeler) ?? new LabelerSum();
      sums.set(labeler, sum);
      sum.addDay(counters, values);
    }
  }
  return sums;
}
