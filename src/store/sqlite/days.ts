import { existsSync } from 'node:fs';
import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../errors.ts';
import { dayName, dayOf, type Interval } from '../time.ts';
import { isAbsent } from './connection.ts';
import { DayReader } from './day-reader.ts';
import { type DayForm, dayPath, type StorePaths } from './files.ts';
import { remedy } from './lost-state.ts';
import type { Catalog } from './state-read.ts';

/** Looks this often for a file that the state file names: it may be sealed or dropped between the two looks. */
const looks = 5;

/** The days according to the state file. */
export interface DayCatalog {
  catalog(): Catalog;
  floor(): Micros;
  /** The generation that every day must be of. */
  generation(): string;
}

/** A look at the store's days. */
export interface Look {
  /** The days that overlap the interval, oldest first. */
  readonly days: readonly DayReader[];
  /** The day that may still be written; older ones never change. Null in an empty store. */
  readonly newest: number | null;
}

/** The open day files of one reader, kept between queries. */
export class Days {
  readonly #paths: StorePaths;
  readonly #state: DayCatalog;
  /** With the revision of the day that each was opened under. */
  readonly #open = new Map<number, { readonly reader: DayReader; readonly revision: number }>();

  constructor(paths: StorePaths, state: DayCatalog) {
    this.#paths = paths;
    this.#state = state;
  }

  /**
   * Runs a synchronous query over the days of an interval. `out_of_window` when it begins before the floor, also
   * when the floor rose meanwhile: the floor is raised before a file goes, so a missing day is never read as empty.
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
      const result = work({ days, newest: catalog.days.at(-1)?.day ?? null });
      this.#refuseBefore(interval, { floor: this.#state.floor() });
      return result;
    }
  }

  /** The newest day's file; null in a store without rows. */
  newest(): DayReader | null {
    return this.#newestOf(() => true);
  }

  /** The file of the newest day that is sealed; null where none is. */
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

  /** Error that names the days with missing files, for the operator who must restore them. */
  #missing(wanted: Catalog['days']): StoreError {
    const absent = wanted
      .filter(({ day, sealed }) => !existsSync(dayPath(this.#paths, day, sealed === 1 ? 'sealed' : 'open')))
      .map(({ day }) => dayName(day));
    return new StoreError('damaged', `a day's file is missing in ${this.#paths.days}: ${absent.join(', ')}`);
  }

  /** Every day, oldest first. */
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

  /** Null when a file is not where the catalog says. */
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
          // A file that is there and cannot be opened is not missing.
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

  /** Closes files that were dropped, sealed, purged or given checksums since: their space is free only then. */
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
