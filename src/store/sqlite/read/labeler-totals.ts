import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import { delayBounds, type LabelerCounters, type LabelersCounters, maxCountedValues } from '../../counts.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { DayReader } from '../day/day-reader.ts';
import { type DayCounters, type Events, isEmpty } from '../labeler/stored-counters.ts';
import { assertInterval, type Days } from './days.ts';

/** Maximum number of day sets whose sums are cached. */
const maxCached = 3;
/** Maximum number of steps per call of `over`. All remaining days are then added in one step. */
const maxSteps = 2_000;
/** Maximum duration of a step, in milliseconds; the step that also reads the newest day may take longer. */
const stepMs = 4;
/** Number of labelers that are processed between two checks of the time. */
const labelersAtOnce = 50;

/** Sum of days that no longer change. */
interface Closed {
  /** Serial numbers of the included files, oldest day first. */
  readonly serials: number[];
  readonly sums: Map<string, LabelerSum>;
  /** Cached results for labelers that have no rows on the newest day. */
  readonly counters: Map<string, LabelerCounters>;
  /** Labelers in `sums`, sorted by DID, or null until first needed. */
  names: readonly string[] | null;
}

/** Partial sum of days that no longer change. */
interface Progress {
  readonly closed: Closed;
  /** Day that is being packed, or null if no day is being packed. */
  packing: DayPacking | null;
  /** Iterator that adds the remaining labelers of the last included day, or null if all of them are added. */
  adding: Iterator<void> | null;
}

/**
 * Sums of the counters of all labelers over several days. For days that no longer change, the counters of each day
 * and the sums of sets of days are cached by opened file. A day that is sealed or purged is opened again, so the
 * earlier entries are not used.
 */
export class LabelerTotals {
  readonly #days: Days;
  readonly #monotonic: () => number;
  readonly #packed = new WeakMap<DayReader, PackedDay>();
  readonly #closed = new Map<string, Closed>();
  #open: OpenDay | null = null;

  /** `monotonic` returns the time of a monotonic clock in milliseconds. */
  constructor(days: Days, monotonic: () => number = () => performance.now()) {
    this.#days = days;
    this.#monotonic = monotonic;
  }

  /**
   * Returns a function that computes the sums step by step: each call performs one step, and all calls but the last
   * return null. The step that completes the sum of the days that no longer change also reads the newest day, so the
   * result describes the rows at that step. All other steps end after a few milliseconds.
   */
  over(interval: Interval): () => LabelersCounters | null {
    assertInterval(interval);
    let steps = 0;
    let progress: Progress | null = null;
    let finishing: (() => LabelersCounters | null) | null = null;
    return () => {
      const isOver = this.#timer();
      if (finishing) return finishing();
      steps += 1;
      finishing = this.#days.over(interval, ({ days, newest, floor }) => {
        const closedDays = days.filter(({ day }) => day !== newest);
        progress = this.#advance(closedDays, progress, steps < maxSteps ? isOver : () => false);
        if (progress.closed.serials.length < closedDays.length || progress.adding !== null) return null;
        const open = days.find(({ day }) => day === newest);
        const since = Math.max(dayStart(dayOf(interval.start)), floor, ...days.map(uncountedUntil));
        return this.#finish(progress.closed, open ? this.#readOpen(open) : new Map(), micros(since));
      });
      // Leave the computation of the result to the next steps: other reads share this turn of the event loop.
      return null;
    };
  }

  #timer(): () => boolean {
    const startedAt = this.#monotonic();
    return () => this.#monotonic() - startedAt >= stepMs;
  }

  /** Reads the counters of the newest day. */
  #readOpen(day: DayReader): ReturnType<OpenDay['read']> {
    if (this.#open?.serial !== day.serial) this.#open = new OpenDay(day.serial);
    return this.#open.read(day);
  }

  /** Adds days to the sum until `isOver` returns true. Starts over if an included file was replaced. */
  #advance(days: readonly DayReader[], begun: Progress | null, isOver: () => boolean): Progress {
    const key = days.map(({ serial }) => serial).join(' ');
    const known = this.#closed.get(key);
    if (known) return { closed: known, packing: null, adding: null };
    const isPrefix = begun?.closed.serials.every((serial, i) => days[i]?.serial === serial) === true;
    const progress: Progress =
      begun && isPrefix
        ? begun
        : { closed: { serials: [], sums: new Map(), counters: new Map(), names: null }, packing: null, adding: null };
    if (!isAdded(progress, isOver)) return progress;
    const { closed } = progress;
    for (const day of days.slice(closed.serials.length)) {
      const packed = this.#packedOf(day, progress, isOver);
      if (packed === null) return progress;
      // Include the day before its labelers are added: if its file is replaced in between, the sum starts over.
      closed.serials.push(day.serial);
      progress.adding = packed.adding(closed.sums);
      if (!isAdded(progress, isOver)) return progress;
    }
    const [oldest] = this.#closed.keys();
    if (this.#closed.size >= maxCached && oldest !== undefined) this.#closed.delete(oldest);
    this.#closed.set(key, closed);
    return progress;
  }

  /**
   * Returns the packed counters of a day that no longer changes, or null if `isOver` returned true before all
   * counters were packed.
   */
  #packedOf(day: DayReader, progress: Progress, isOver: () => boolean): PackedDay | null {
    const known = this.#packed.get(day);
    if (known) return known;
    if (progress.packing?.serial !== day.serial) progress.packing = new DayPacking(day);
    const packed = progress.packing.advance(day, isOver);
    if (packed === null) return null;
    progress.packing = null;
    this.#packed.set(day, packed);
    return packed;
  }

  /** Returns a function that computes the counters of several labelers per call. All calls but the last return null. */
  #finish(closed: Closed, today: ReturnType<OpenDay['read']>, since: LabelersCounters['since']) {
    const names = namesOf(closed, today);
    const labelers: LabelerCounters[] = [];
    let next = 0;
    return (): LabelersCounters | null => {
      const isOver = this.#timer();
      while (next < names.length) {
        for (const labeler of names.slice(next, next + labelersAtOnce)) {
          labelers.push(countersOf(labeler, closed, today));
        }
        next += labelersAtOnce;
        if (next < names.length && isOver()) return null;
      }
      return { since, labelers };
    };
  }
}

/**
 * Returns the labelers of all days, sorted by DID. Usually reuses the sorted list of the earlier days, because most
 * labelers of the newest day also have rows on earlier days.
 */
function namesOf(closed: Closed, today: ReturnType<OpenDay['read']>): readonly string[] {
  closed.names ??= [...closed.sums.keys()].sort();
  const added = [...today.keys()].filter((labeler) => !closed.sums.has(labeler));
  return added.length === 0 ? closed.names : [...closed.names, ...added].sort();
}

/** Adds labelers of the last included day until `isOver` returns true. Returns true once all of them are added. */
function isAdded(progress: Progress, isOver: () => boolean): boolean {
  while (progress.adding !== null) {
    for (let left = labelersAtOnce; left > 0 && progress.adding !== null; left -= 1) {
      if (progress.adding.next().done) progress.adding = null;
    }
    if (progress.adding !== null && isOver()) return false;
  }
  return true;
}

function countersOf(labeler: string, closed: Closed, today: ReturnType<OpenDay['read']>): LabelerCounters {
  const before = closed.sums.get(labeler) ?? null;
  const entry = today.get(labeler);
  if (entry !== undefined) return countersWith(entry, before);
  const counters = closed.counters.get(labeler) ?? (before ?? new LabelerSum()).counters(labeler);
  closed.counters.set(labeler, counters);
  return counters;
}

/** Returns the stamp before which rows of a day are not counted, or 0 if all rows of the day are counted. */
function uncountedUntil(day: DayReader): number {
  const from = day.labelerCounters.from();
  return from > dayStart(day.day) ? from : 0;
}

/** Packs the counters of one day in steps, because a day may have thousands of labelers. */
class DayPacking {
  /** Serial number of the day's opened file. */
  readonly serial: number;
  readonly #rows: readonly (readonly [source: number, packed: Buffer])[];
  readonly #counted: (readonly [source: number, counters: DayCounters])[] = [];
  #next = 0;

  constructor(day: DayReader) {
    this.serial = day.serial;
    this.#rows = [...day.labelerCounters.packed()];
  }

  /**
   * Unpacks stored counters until `isOver` returns true. Returns the packed day once all counters are processed, and
   * null until then.
   */
  advance(day: DayReader, isOver: () => boolean): PackedDay | null {
    while (this.#next < this.#rows.length) {
      for (const [source, packed] of this.#rows.slice(this.#next, this.#next + labelersAtOnce)) {
        const counters = day.labelerCounters.unpacked(source, packed);
        // Skip empty counters, which belong to a labeler whose rows were purged.
        if (!isEmpty(counters)) this.#counted.push([source, counters]);
      }
      this.#next += labelersAtOnce;
      if (this.#next < this.#rows.length && isOver()) return null;
    }
    const names = day.namesOf('source', new Set(this.#counted.map(([source]) => source)));
    const values = day.namesOf('val', new Set(this.#counted.flatMap(([, counters]) => [...counters.values.keys()])));
    return new PackedDay(this.#counted, names, values);
  }
}

/** Counters of all labelers of one day in a single array, because objects would need several times the memory. */
class PackedDay {
  /** Index in `#numbers` at which the counters of each labeler begin. */
  readonly #labelers = new Map<string, number>();
  readonly #numbers: Float64Array;
  readonly #values: ReadonlyMap<number, string>;

  /** `names` and `values` are the texts for the numeric ids of the labelers and of their values. */
  constructor(
    counted: readonly (readonly [source: number, counters: DayCounters])[],
    names: ReadonlyMap<number, string>,
    values: ReadonlyMap<number, string>,
  ) {
    const numbers: number[] = [];
    for (const [source, { verdicts, values: own, others, delays }] of counted) {
      this.#labelers.set(names.get(source) ?? '', numbers.length);
      for (const verdict of signatureVerdicts) numbers.push(verdicts.get(verdict) ?? 0);
      numbers.push(...others, own.size);
      for (const [value, [applied, removed]] of own) numbers.push(value, applied, removed);
      numbers.push(delays.size);
      for (const [range, count] of delays) numbers.push(range, count);
    }
    this.#numbers = Float64Array.from(numbers);
    this.#values = values;
  }

  /**
   * Adds the counters of each labeler to the labeler's sum. Yields after each labeler, so that the caller can pause.
   */
  *adding(sums: Map<string, LabelerSum>): Generator<void> {
    for (const [labeler, at] of this.#labelers) {
      const sum = sums.get(labeler) ?? new LabelerSum();
      sums.set(labeler, sum);
      this.#addLabeler(at, sum);
      yield;
    }
  }

  #addLabeler(from: number, sum: LabelerSum): void {
    let at = from;
    const take = (): number => this.#numbers[at++] ?? 0;
    const verdicts: DayCounters['verdicts'] = new Map(signatureVerdicts.map((verdict) => [verdict, take()]));
    const others: DayCounters['others'] = [take(), take()];
    const values: DayCounters['values'] = new Map();
    for (let left = take(); left > 0; left -= 1) values.set(take(), [take(), take()]);
    const delays: DayCounters['delays'] = new Map();
    for (let left = take(); left > 0; left -= 1) delays.set(take(), take());
    sum.addDay({ verdicts, values, others, delays }, this.#values);
  }
}

/** Counters of one labeler on the open day, in packed and unpacked form. */
interface Entry {
  readonly packed: Buffer;
  readonly labeler: string;
  readonly counters: DayCounters;
  readonly texts: ReadonlyMap<number, string>;
  /** Sum with the counters of earlier days (`before`), or null until first requested. */
  summed: { readonly before: LabelerSum | null; readonly counters: LabelerCounters } | null;
}

/**
 * Counters of the newest day, to which rows are still added. Each read unpacks only the counters that changed since
 * the previous read, because most labelers apply no labels between two reads.
 */
class OpenDay {
  readonly serial: number;
  #entries = new Map<number, Entry>();

  /** `serial` is the serial number of the day's opened file. */
  constructor(serial: number) {
    this.serial = serial;
  }

  /** Reads the counters in one transaction. Returns only labelers with rows. */
  read(day: DayReader): ReadonlyMap<string, Entry> {
    return day.atOnce(() => {
      const entries = new Map<number, Entry>();
      const changed: { source: number; packed: Buffer; counters: DayCounters }[] = [];
      for (const [source, packed] of day.labelerCounters.packed()) {
        const known = this.#entries.get(source);
        if (known?.packed.equals(packed)) entries.set(source, known);
        else changed.push({ source, packed, counters: day.labelerCounters.unpacked(source, packed) });
      }
      const names = day.namesOf('source', new Set(changed.map(({ source }) => source)));
      const texts = day.namesOf('val', new Set(changed.flatMap(({ counters }) => [...counters.values.keys()])));
      for (const { source, packed, counters } of changed) {
        entries.set(source, { packed, labeler: names.get(source) ?? '', counters, texts, summed: null });
      }
      this.#entries = entries;
      const counted = [...entries.values()].filter(({ counters }) => !isEmpty(counters));
      return new Map(counted.map((entry) => [entry.labeler, entry]));
    });
  }
}

/** Returns the counters of a labeler, summed over the open day and the earlier days in `before`. */
function countersWith(entry: Entry, before: LabelerSum | null): LabelerCounters {
  if (entry.summed !== null && entry.summed.before === before) return entry.summed.counters;
  const sum = new LabelerSum();
  sum.addDay(entry.counters, entry.texts);
  if (before) sum.add(before);
  const counters = sum.counters(entry.labeler);
  entry.summed = { before, counters };
  return counters;
}

/** Maximum number of values in a sum. Above this number, the values with the smallest counts are added to `others`. */
const maxSummedValues = 2 * maxCountedValues;

/** Sum of one labeler's counters over several days. */
class LabelerSum {
  readonly #verdicts = new Map<SignatureVerdict, number>();
  readonly #values = new Map<string, Events>();
  readonly #others: Events = [0, 0];
  readonly #delays: number[] = Array.from({ length: delayBounds.length + 1 }, () => 0);

  /** Adds the counters of a day. `texts` contains the texts of the day's values by id. */
  addDay({ verdicts, values, others, delays }: DayCounters, texts: ReadonlyMap<number, string>): void {
    for (const [verdict, count] of verdicts) this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + count);
    for (const [value, [applied, removed]] of values) {
      if (applied + removed > 0) this.#addValue(texts.get(value) ?? '', applied, removed);
    }
    increase(this.#others, others);
    for (const [range, count] of delays) this.#delays[range] = (this.#delays[range] ?? 0) + count;
  }

  /** Adds another sum of the same labeler. */
  add(sum: LabelerSum): void {
    for (const [verdict, count] of sum.#verdicts)
      this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + count);
    for (const [value, [applied, removed]] of sum.#values) this.#addValue(value, applied, removed);
    increase(this.#others, sum.#others);
    for (const [range, count] of sum.#delays.entries()) this.#delays[range] = (this.#delays[range] ?? 0) + count;
  }

  /** Returns the sum in the form of the port. */
  counters(labeler: string): LabelerCounters {
    const sorted = largestFirst(this.#values);
    const others: Events = [...this.#others];
    for (const [, events] of sorted.slice(maxCountedValues)) increase(others, events);
    const verdicts = Object.fromEntries(
      signatureVerdicts.map((verdict) => [verdict, this.#verdicts.get(verdict) ?? 0]),
    );
    return {
      labeler,
      verdicts: verdicts as Record<SignatureVerdict, number>,
      values: sorted.slice(0, maxCountedValues).map(([value, [applied, removed]]) => ({ value, applied, removed })),
      others: { applied: others[0], removed: others[1] },
      delays: [...this.#delays],
    };
  }

  #addValue(value: string, applied: number, removed: number): void {
    const events = this.#values.get(value);
    if (events) increase(events, [applied, removed]);
    else this.#values.set(value, [applied, removed]);
    if (this.#values.size > maxSummedValues) this.#shrink();
  }

  /** Limits the number of values, because different days may have different values. */
  #shrink(): void {
    for (const [value, events] of largestFirst(this.#values).slice(maxCountedValues)) {
      increase(this.#others, events);
      this.#values.delete(value);
    }
  }
}

function increase(sum: Events, [applied, removed]: Events): void {
  sum[0] += applied;
  sum[1] += removed;
}

function largestFirst(values: ReadonlyMap<string, Events>): [string, Events][] {
  return [...values].sort(([a, x], [b, y]) => y[0] + y[1] - x[0] - x[1] || (a < b ? -1 : 1));
}
