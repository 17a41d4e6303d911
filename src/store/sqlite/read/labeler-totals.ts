import type { LabelerCounters, LabelersCounters } from '../../labeler-counters.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { DayReader } from '../day/day-reader.ts';
import { isEmpty } from '../labeler/day-counters.ts';
import { LabelerSum } from '../labeler/labeler-sum.ts';
import { assertInterval } from './account-read.ts';
import type { Days } from './days.ts';
import { type CountedDay, PackedDay } from './packed-day.ts';

/** Maximum number of sets of days whose sums are cached. */
const maxCached = 3;
/** Maximum number of steps of one reading. Days that are still missing are then added in one step. */
const maxSteps = 200;
/** Maximum number of labelers whose counters are computed in one step. */
const labelersAtOnce = 250;

/** Sum of days that no longer change, with the counters of labelers that have no rows in other days. */
interface Closed {
  /** Serial numbers of the files that are included, oldest day first. */
  readonly serials: number[];
  readonly sums: Map<string, LabelerSum>;
  readonly counters: Map<string, LabelerCounters>;
}

/**
 * Sums of the counters of all labelers over days. The counters of each day that no longer changes are cached by open
 * file, and the sum of these days is cached as well. A day that is sealed or purged gets another open file.
 */
export class LabelerTotals {
  readonly #days: Days;
  readonly #packed = new WeakMap<DayReader, PackedDay>();
  readonly #closed = new Map<string, Closed>();

  constructor(days: Days) {
    this.#days = days;
  }

  /**
   * Starts a reading. Each call of the returned function performs one step, and returns null until the last step. A step
   * adds at most one day that no longer changes. The step that adds the last of these days also reads today, so that
   * the result describes the rows of that step.
   */
  over(interval: Interval): () => LabelersCounters | null {
    assertInterval(interval);
    let steps = 0;
    let begun: Closed | null = null;
    let finishing: (() => LabelersCounters | null) | null = null;
    return () => {
      if (finishing) return finishing();
      steps += 1;
      finishing = this.#days.over(interval, ({ days, newest, floor }) => {
        const closedDays = days.filter(({ day }) => day !== newest);
        begun = this.#advance(closedDays, begun, steps < maxSteps ? 1 : closedDays.length);
        if (begun.serials.length < closedDays.length) return null;
        const open = days.find(({ day }) => day === newest);
        const today = open?.atOnce(() => PackedDay.of(countedIn(open))) ?? null;
        const since = Math.max(dayStart(dayOf(interval.start)), floor, ...days.map(uncountedUntil));
        return finish(begun, today, micros(since));
      });
      return finishing === null ? null : finishing();
    };
  }

  /** Adds at most `count` days to the sum of the days. Starts again if one of the included files was replaced. */
  #advance(days: readonly DayReader[], begun: Closed | null, count: number): Closed {
    const key = days.map(({ serial }) => serial).join(' ');
    const known = this.#closed.get(key);
    if (known) return known;
    const isPrefix = begun?.serials.every((serial, i) => days[i]?.serial === serial) === true;
    const closed: Closed = begun && isPrefix ? begun : { serials: [], sums: new Map(), counters: new Map() };
    for (const day of days.slice(closed.serials.length, closed.serials.length + count)) {
      this.#packedOf(day).addTo(closed.sums);
      closed.serials.push(day.serial);
    }
    if (closed.serials.length === days.length) {
      const [oldest] = this.#closed.keys();
      if (this.#closed.size >= maxCached && oldest !== undefined) this.#closed.delete(oldest);
      this.#closed.set(key, closed);
    }
    return closed;
  }

  /** Returns the counters of a day that no longer changes. */
  #packedOf(day: DayReader): PackedDay {
    const known = this.#packed.get(day);
    if (known) return known;
    const packed = PackedDay.of(countedIn(day));
    this.#packed.set(day, packed);
    return packed;
  }
}

/** Returns a function that computes the counters of some labelers per call, and returns null until the last call. */
function finish(closed: Closed, day: PackedDay | null, since: LabelersCounters['since']) {
  const today = day?.labelers ?? new Map<string, number>();
  const names = [...new Set([...closed.sums.keys(), ...today.keys()])].sort();
  const labelers: LabelerCounters[] = [];
  let next = 0;
  return (): LabelersCounters | null => {
    const slice = names.slice(next, next + labelersAtOnce);
    next += slice.length;
    for (const labeler of slice) {
      const before = closed.sums.get(labeler);
      const at = today.get(labeler);
      if (day === null || at === undefined) {
        const counters = closed.counters.get(labeler) ?? before?.counters(labeler);
        if (!counters) continue;
        closed.counters.set(labeler, counters);
        labelers.push(counters);
        continue;
      }
      const sum = new LabelerSum();
      day.addLabeler(at, sum);
      if (before) sum.add(before);
      labelers.push(sum.counters(labeler));
    }
    return next < names.length ? null : { since, labelers };
  };
}

/** Returns the instant before which a day's rows are not counted; 0 if all of its rows are counted. */
function uncountedUntil(day: DayReader): number {
  const from = day.labelerCounters.from();
  return from > dayStart(day.day) ? from : 0;
}

function countedIn(day: DayReader): CountedDay {
  // The counters of a labeler whose rows were purged are empty.
  const counted = [...day.labelerCounters.all()].filter(([, counters]) => !isEmpty(counters));
  const names = day.namesOf('source', new Set(counted.map(([source]) => source)));
  const values = day.namesOf('val', new Set(counted.flatMap(([, counters]) => [...counters.values.keys()])));
  return { counted, names, values };
}
