import type { AccountDay, AccountTally } from '../../account-counts.ts';
import { StoreError } from '../../errors.ts';
import type { AccountFilter, StoreReader } from '../../port.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import { type SubjectKey, subjectKey } from '../base/row.ts';
import { accountGroups } from './account-groups.ts';
import type { CountedDay } from './counted-day.ts';
import type { Group } from './group.ts';
import { TallySums } from './tally-sums.ts';

/** Cached counts of a run of consecutive sealed days. */
interface Run {
  readonly days: readonly AccountDay[];
  readonly sums: TallySums;
}

/** Maximum number of cached runs of sealed days. */
const maxRuns = 32;
/** Maximum number of labelers and values in a cached run; together with `maxRuns`, this bounds the memory use. */
const maxNames = 10_000;

/** Opens the days of an interval for one query. */
interface CountedDays {
  over<T>(interval: Interval, work: (look: { readonly days: readonly CountedDay[] }) => T): T;
}

/** Counts the rows of accounts. Caches the counts of sealed days for hot accounts, because sealed days never change. */
export class AccountTallies {
  readonly #days: CountedDays;
  readonly #runs = new Map<string, Run>();

  constructor(days: CountedDays) {
    this.#days = days;
  }

  /**
   * Returns the counts of an account's rows in an interval: from stored counts if they exist, otherwise from the rows,
   * within the budget.
   */
  of(query: Parameters<StoreReader['tallyAccount']>[0]): AccountTally {
    const { account, filter = {}, budget, start, end } = query;
    if (!Number.isInteger(budget) || budget < 1) throw new StoreError('invalid_query', 'the budget must be at least 1');
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
    // Do not cache the result for a cold account: its few rows are quickly counted again. Do not cache a result that
    // lacks a day: the next call must try to count that day again.
    if (counting.busy && days.every(({ counts }) => counts !== null) && sums.names <= maxNames) {
      if (this.#runs.size >= maxRuns) this.#runs.delete(this.#runs.keys().next().value ?? '');
      this.#runs.set(name, run);
    }
    return run;
  }
}

/** Run of whole sealed days in the interval that is not interrupted by an open day. */
interface SealedRun {
  readonly first: number;
  readonly last: number;
  /** Serial numbers of the opened files of the whole sealed days. */
  readonly files: readonly number[];
}

interface Counted {
  readonly key: SubjectKey;
  readonly filter: AccountFilter;
  readonly start: number;
  readonly end: number;
  readonly budget: number;
}

/** State of one tally. Its days are counted newest first and share one budget. */
class Counting {
  readonly #files: ReadonlyMap<number, CountedDay>;
  readonly #of: Counted;
  #left: number;
  /** True if stored groups of a sealed day were used, which means that the account is hot. */
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
    // The serial numbers are part of the cache key: a purged day is opened as a new file, so its cached counts are not
    // used.
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
   * Returns the account's groups for a part of a day, or null if this would require reading more rows than the budget
   * has left.
   */
  #groups(file: CountedDay, start: number, end: number): readonly Group[] | null {
    const found = accountGroups(file, this.#of.key, { start, end }, this.#left);
    if (!found) return null;
    this.#left -= found.looked;
    if (found.kept && file.form === 'sealed') this.busy = true;
    return found.groups;
  }
}
