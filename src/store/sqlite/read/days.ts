import { existsSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { LabelerCount } from '../../counts.ts';
import { StoreError } from '../../errors.ts';
import {
  type AccountChunk,
  type AccountInterval,
  type AccountQuery,
  type BucketCount,
  maxChunkRows,
  type Observation,
  type RefusalCount,
  type StoreReader,
} from '../../port.ts';
import { day as dayLength, dayName, dayOf, dayStart, hour, type Interval, micros, minute } from '../../time.ts';
import { isAbsent } from '../base/connection.ts';
import { type DayForm, dayPath, type StorePaths } from '../base/files.ts';
import { subjectKey } from '../base/row.ts';
import { type AddCount, DayReader } from '../day/day-reader.ts';
import type { Catalog } from '../state/state.ts';
import { remedy } from './lost-tail.ts';

/**
 * Maximum number of attempts to open a listed file. The day may be sealed or dropped after the list was read from the
 * state file.
 */
const looks = 5;

/** Access to the list of days, which is in the state file. */
interface DayCatalog {
  catalog(): Catalog;
  floor(): Micros;
  /** Returns the generation to which every day must belong. */
  generation(): string;
}

/** View of a store's days for one query. */
interface Look {
  /** Days that overlap the interval, oldest first. */
  readonly days: readonly DayReader[];
  /** Day to which rows may still be added; older days never change. Null in an empty store. */
  readonly newest: number | null;
  readonly floor: Micros;
}

/** Day files that one reader keeps open between queries. */
export class Days {
  readonly #paths: StorePaths;
  readonly #state: DayCatalog;
  /** Opened files by day, each with the revision of the day when the file was opened. */
  readonly #open = new Map<number, { readonly reader: DayReader; readonly revision: number }>();

  constructor(paths: StorePaths, state: DayCatalog) {
    this.#paths = paths;
    this.#state = state;
  }

  /**
   * Runs a synchronous query over the days of an interval. Throws `out_of_window` if the interval begins before the
   * floor, or if the floor rises above the start of the interval during the query. Because the floor is raised before
   * a file is removed, a missing day never counts as empty. Throws `damaged` if a listed file is still missing after
   * several attempts, or if a file belongs to another generation of the store.
   */
  over<T>(interval: Interval, work: (look: Look) => T): T {
    const from = dayOf(interval.start);
    const through = dayOf(interval.end - 1);
    for (let look = 1; ; look++) {
      const catalog = this.#state.catalog();
      this.#refuseBefore(interval, catalog);
      const wanted = catalog.days.filter(({ day }) => day >= from && day <= through);
      const days = this.#openAll(wanted, catalog);
      if (days === null) {
        if (look === looks) throw this.#missing(wanted);
        continue;
      }
      const result = work({ days, newest: catalog.days.at(-1)?.day ?? null, floor: catalog.floor });
      this.#refuseBefore(interval, { floor: this.#state.floor() });
      return result;
    }
  }

  /** Returns the file of the newest day, or null if the store has no day. */
  newest(): DayReader | null {
    return this.#newestOf(() => true);
  }

  /** Returns the file of the newest sealed day, or null if no day is sealed. */
  newestSealed(): DayReader | null {
    return this.#newestOf(({ sealed }) => sealed === 1);
  }

  #newestOf(wanted: (day: Catalog['days'][number]) => boolean): DayReader | null {
    for (let look = 1; ; look++) {
      const catalog = this.#state.catalog();
      const newest = catalog.days.findLast(wanted);
      if (!newest) return null;
      const [reader] = this.#openAll([newest], catalog) ?? [];
      if (reader) return reader;
      if (look === looks) throw this.#missing([newest]);
    }
  }

  /** Creates the error that lists the days whose files are missing. */
  #missing(wanted: Catalog['days']): StoreError {
    const absent = wanted
      .filter(({ day, sealed }) => !existsSync(dayPath(this.#paths, day, sealed === 1 ? 'sealed' : 'open')))
      .map(({ day }) => dayName(day));
    return new StoreError('damaged', `a day's file is missing in ${this.#paths.days}: ${absent.join(', ')}`);
  }

  /** Returns every day of the catalog, oldest first. */
  all(): Catalog['days'] {
    return this.#state.catalog().days;
  }

  close(): void {
    for (const { reader } of this.#open.values()) reader.close();
    this.#open.clear();
  }

  #refuseBefore({ start }: Interval, { floor }: Pick<Catalog, 'floor'>): void {
    if (start < floor) throw new StoreError('out_of_window', `the interval begins before ${dayName(dayOf(floor))}`);
  }

  /** Opens the files of days. Returns null if a listed file does not exist. */
  #openAll(wanted: Catalog['days'], catalog: Catalog): DayReader[] | null {
    this.#forget(catalog);
    const readers: DayReader[] = [];
    for (const { day, sealed, revision } of wanted) {
      let reader = this.#open.get(day)?.reader;
      if (!reader) {
        const form = sealed === 1 ? 'sealed' : 'open';
        try {
          reader = this.#openDay(day, form);
        } catch (error) {
          // Only a file that does not exist counts as missing, not one that exists but cannot be opened.
          if (isAbsent(error) && !existsSync(dayPath(this.#paths, day, form))) return null;
          throw error;
        }
        this.#open.set(day, { reader, revision });
      }
      readers.push(reader);
    }
    return readers;
  }

  #openDay(day: number, form: DayForm): DayReader {
    const reader = new DayReader(dayPath(this.#paths, day, form), day, form);
    if (reader.generation() === this.#state.generation()) return reader;
    reader.close();
    throw new StoreError('damaged', `${reader.path} belongs to another generation of the store: ${remedy}`);
  }

  /**
   * Closes files that were dropped, sealed, purged or replaced since they were opened. The file system frees their
   * space only after they are closed.
   */
  #forget(catalog: Catalog): void {
    const now = new Map(catalog.days.map((entry) => [entry.day, entry]));
    for (const [day, { reader, revision }] of this.#open) {
      const entry = now.get(day);
      const form = entry?.sealed === 1 ? 'sealed' : 'open';
      if (entry === undefined || form !== reader.form || entry.revision !== revision || reader.isReplaced) {
        reader.close();
        this.#open.delete(day);
      }
    }
  }
}

/** Maximum number of stamps that are read in one turn of the event loop. */
const stampsAtOnce = 20_000;

/** Reads one chunk of an account's rows. */
export function readAccount(days: Days, query: AccountQuery): AccountChunk {
  const { account, order, after, limit, filter, withoutBytes } = query;
  assertInterval(query);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxChunkRows) {
    throw new StoreError('invalid_query', `the limit must be 1 to ${maxChunkRows}`);
  }
  const passes = query.passes ?? Number.POSITIVE_INFINITY;
  // Only a filtered read needs a limit on the rows read: without a filter, `limit` already bounds them.
  const filtered = Object.keys(filter ?? {}).length > 0;
  const bounded = filtered && order === 'oldest' && Number.isFinite(passes);
  const start = order === 'oldest' && after !== null ? Math.max(query.start, after + 1) : query.start;
  const end = order === 'newest' && after !== null ? Math.min(query.end, after) : query.end;
  const key = subjectKey(account);
  // Check the floor against the requested interval, not only against the part that remains to be read.
  return days.over(query, (look) => {
    const rows: Observation[] = [];
    let left = passes;
    let reached: Micros | null = null;
    for (const day of order === 'oldest' ? look.days : look.days.toReversed()) {
      if (rows.length > limit || reached !== null) break;
      if (dayStart(day.day + 1) <= start || dayStart(day.day) >= end) continue;
      const passed = bounded ? day.passing(key, start, end, left) : null;
      if (bounded && passed === null) continue;
      const range = { key, start, end: passed ? passed.last + 1 : end, limit: limit + 1 - rows.length };
      rows.push(...day.account(range, { order, ...(filter && { filter }), ...(withoutBytes && { withoutBytes }) }));
      left -= passed?.rows ?? 0;
      if (passed && left === 0) reached = micros(passed.last);
    }
    const chunk = rows.slice(0, limit);
    return { rows: chunk, next: rows.length > limit ? (chunk.at(-1)?.observedAt ?? null) : reached };
  });
}

/** Splits an interval into parts with at most `maxRows` of the account's rows each. */
export async function accountIntervals(
  days: Days,
  query: Parameters<StoreReader['accountIntervals']>[0],
): Promise<AccountInterval[]> {
  const { account, maxRows, budget } = query;
  assertInterval(query);
  if (!Number.isInteger(maxRows) || maxRows < 1) throw new StoreError('invalid_query', 'maxRows must be at least 1');
  const key = subjectKey(account);
  const parts: AccountInterval[] = [];
  let partStart: number = query.start;
  let inPart = 0;
  let counted = 0;
  let from: number = query.start;
  for (;;) {
    // Once a part is full, read only one more row: the next part begins at its stamp.
    const most = inPart === maxRows ? 1 : Math.min(stampsAtOnce, maxRows - inPart);
    const passed = days.over(query, (look) => {
      for (const day of look.days) {
        if (dayStart(day.day + 1) <= from) continue;
        const found = day.passing(key, from, query.end, most);
        if (found) return found;
      }
      return null;
    });
    if (passed === null) break;
    counted += passed.rows;
    if (counted > budget) throw new StoreError('budget_exceeded', `the interval has more than ${budget} rows`);
    if (inPart === maxRows) {
      parts.push({ start: micros(partStart), end: micros(passed.last), rows: inPart });
      partStart = passed.last;
      inPart = 0;
    }
    inPart += passed.rows;
    from = passed.last + 1;
    await nextTick();
  }
  return [...parts, { start: micros(partStart), end: query.end, rows: inPart }];
}

/** Throws `invalid_query` unless both ends of the interval are safe integers and the interval ends after it starts. */
export function assertInterval({ start, end }: Interval): void {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end)) {
    throw new StoreError('invalid_query', 'an interval must end after it starts');
  }
}

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
