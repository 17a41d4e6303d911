import { StoreError } from '../errors.ts';
import type { AccountDay, AccountFilter, AccountTally, StoreReader } from '../port.ts';
import { dayOf, dayStart, micros } from '../time.ts';
import { accountGroups } from './account-groups.ts';
import { assertInterval } from './account-read.ts';
import type { DayReader } from './day-reader.ts';
import type { Days, Look } from './days.ts';
import type { Group } from './group.ts';
import { type SubjectKey, subjectKey } from './row.ts';
import { TallySums } from './tally-sums.ts';

/** Result for a run of days. */
interface Run {
  readonly days: readonly AccountDay[];
  readonly sums: TallySums;
}

/** Runs of sealed days that are kept. */
const maxRuns = 32;
/** Names kept of one: with `maxRuns` it bounds the memory. */
const maxNames = 10_000;

/** Tallies accounts, and keeps what it found of sealed days for those that have many rows: those never change. */
export class AccountTallies {
  readonly #days: Days;
  readonly #runs = new Map<string, Run>();

  constructor(days: Days) {
    this.#days = days;
  }

  /** An account's rows of an interval in numbers: kept ones where there are, else counted within the budget. */
  of(query: Parameters<StoreReader['tallyAccount']>[0]): AccountTally {
    assertInterval(query);
    const { account, filter = {}, budget, start, end } = query;
    if (!Number.isInteger(budget) || budget < 1) throw new StoreError('invalid_query', 'budget must be at least 1');
    return this.#days.over(query, (look) => {
      const counting = new Counting(look, { key: subjectKey(account), filter, start, end, budget });
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
    // Few rows are counted again as fast, and a day that was not counted is tried again.
    if (counting.busy && days.every(({ counts }) => counts !== null) && sums.names <= maxNames) {
      if (this.#runs.size >= maxRuns) this.#runs.delete(this.#runs.keys().next().value ?? '');
      this.#runs.set(name, run);
    }
    return run;
  }
}

/** Whole days, the first and the last of them sealed and none between them open. */
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

/** One look at the days, newest first, within one budget. */
class Counting {
  readonly #files: ReadonlyMap<number, DayReader>;
  readonly #of: Counted;
  #left: number;
  /** True if a sealed day's stored groups were used: the account has many rows. */
  busy = false;

  constructor(look: Look, of: Counted) {
    this.#files = new Map(look.days.map((file) => [file.day, file]));
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
    // A day that was purged meanwhile makes it another run.
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

  /** The account's groups of a day's part; null where more rows than are left would have to be read. */
  #groups(file: DayReader, start: number, end: number): readonly Group[] | null {
    const found = accountGroups(file, this.#of.key, { start, end }, this.#left);
    if (!found) return null;
    this.#left -= found.looked;
    if (found.kept && file.form === 'sealed') this.busy = true;
    return found.groups;
  }
}
