import type { AccountDay, AccountTally } from '../../account-counts.ts';
import { StoreError } from '../../errors.ts';
import type { AccountFilter, StoreReader } from '../../port.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import { type SubjectKey, subjectKey } from '../base/row.ts';
import { accountGroups } from './account-groups.ts';
import type { CountedDay } from './counted-day.ts';
import type { Group } from './group.ts';
import { TallySums } from './tally-sums.ts';

/** Cached result for a run of days. */
interface Run {
  readonly days: readonly AccountDay[];
  readonly sums: TallySums;
}

/** Maximum number of cached runs of sealed days. */
const maxRuns = 32;
/** Maximum number of names in a cached run; with `maxRuns` it bounds the memory. */
const maxNames = 10_000;

/** The days of an interval, each opened once for one query. */
interface CountedDays {
  over<T>(interval: Interval, work: (look: { readonly days: readonly CountedDay[] }) => T): T;
}

/** Counts accounts' rows, and caches the results of sealed days for hot accounts: those days never change. */
export class AccountTallies {
  readonly #days: CountedDays;
  readonly #runs = new Map<string, Run>();

  constructor(days: CountedDays) {
    this.#days = days;
  }

  /** Counts an account's rows in an interval: from stored counts if there are any, otherwise within the budget. */
  of(query: Parameters<StoreReader['tallyAccount']>[0]): AccountTally {
    const { account, filter = {}, budget, start, end } = query;
    if (!Number.isInteger(budget) || budget < 1) throw new StoreError('invalid_query', 'budget must be at least 1');
    return this.#days.over(query, ({ days }) => {
      const counting = new Counting(days, { key: subjectKey(account), filter, start, end, budget });
      const sealed = counting.sealedRun();
      const found: AccountDay[] = [];
      const sums = new TallySums(filter);
      const count = (from: number, through: number): void => {
        for (let day = from; day >= through; day--) found.push(counting.day(day, sums));
      };
      count(dayOf(end - 1), sealed ? sealed.last + 1 : dayOf(start));
      if (sealed) {
        const run = this.#run(JSON.stringify([account, filter, sealed]), sealed, counting, filter);
        found.push(...run.days);
        sums.merge(run.sums);
        count(sealed.first - 1, dayOf(start));
      }
      return { days: found.reverse(), ...sums.result() };
    });
  }

  #run(name: string, { first, last }: SealedRun, counting: Counting, filter: AccountFilter): Run {
    const known = this.#runs.get(name);
    if (known) return known;
    const sums = new TallySums(filter);
    const days: AccountDay[] = [];
    for (let day = last; day >= first; day--) days.push(counting.day(day, sums));
    const run = { days, sums };
    // Few rows are counted again as quickly, and a day that was not counted must be tried again.
    if (counting.busy && days.every(({ counts }) => counts !== null) && sums.names <= maxNames) {
      if (this.#runs.size >= maxRuns) this.#runs.delete(this.#runs.keys().next().value ?? '');
      this.#runs.set(name, run);
    }
    return run;
  }
}

/** A run of whole sealed days without an open day between them. */
interface SealedRun {
  readonly first: number;
  readonly last: number;
  /** Serial numbers of their open files. */
  readonly files: readonly number[];
}

interface Counted {
  readonly key: SubjectKey;
  readonly filter: AccountFilter;
  readonly start: number;
  readonly end: number;
  readonly budget: number;
}

/** One count over the days, newest first, within one budget. */
class Counting {
  readonly #files: ReadonlyMap<number, CountedDay>;
  readonly #of: Counted;
  #left: number;
  /** True if a sealed day's stored groups were used: it is a hot account. */
  busy = false;

  constructor(days: readonly CountedDay[], of: Counted) {
    this.#files = new Map(days.map((file) => [file.day, file]));
    this.#of = of;
    this.#left = of.budget;
  }

  sealedRun(): SealedRun | null {
    const { start, end } = this.#of;
    const whole = [...this.#files.values()].filter(
      ({ day, form }) => form === 'sealed' && dayStart(day) >= start && dayStart(day + 1) <= end,
    );
    const [first, last] = [whole[0]?.day, whole.at(-1)?.day];
    if (first === undefined || last === undefined) return null;
    const open = [...this.#files.values()].some(({ day, form }) => form === 'open' && day > first && day < last);
    // A day that was purged meanwhile changes the run.
    return open ? null : { first, last, files: whole.map(({ serial }) => serial) };
  }

  day(day: number, sums: TallySums): AccountDay {
    const { start, end } = this.#of;
    const part = { start: micros(Math.max(start, dayStart(day))), end: micros(Math.min(end, dayStart(day + 1))) };
    const file = this.#files.get(day);
    const groups = file ? this.#groups(file, part.start, part.end) : [];
    if (groups === null) this.#left = 0;
    return { ...part, counts: groups && sums.add(groups, file) };
  }

  /**
   * Returns the account's groups of part of a day; null if this requires reading more rows than the budget has left.
   */
  #groups(file: CountedDay, start: number, end: number): readonly Group[] | null {
    const found = accountGroups(file, this.#of.key, { start, end }, this.#left);
    if (!found) return null;
    this.#left -= found.looked;
    if (found.kept && file.form === 'sealed') this.busy = true;
    return found.groups;
  }
}
