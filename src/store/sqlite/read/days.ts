import { existsSync } from 'node:fs';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { dayName, dayOf, type Interval } from '../../time.ts';
import { type DayForm, dayPath, type StorePaths } from '../base/files.ts';
import { isAbsent } from '../base/store-error.ts';
import { DayReader } from '../day/day-reader.ts';
import { remedy } from '../state/lost-state.ts';
import type { Catalog } from '../state/state.ts';

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
