import { targetKinds } from '../../../contract/vocabulary.ts';
import { type AccountDay, type AccountTally, type DayCounts, GroupSums, maxTallyValues } from '../../counts.ts';
import { StoreError } from '../../errors.ts';
import type { AccountFilter, StoreReader } from '../../port.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import { type SubjectKey, subjectKey } from '../base/row.ts';
import { type CountedDay, type Group, groupsOfPacked, maxGroups } from '../hot/hot-counts.ts';

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

/** Counts of an account's rows on one day. */
interface AccountGroups {
  readonly groups: readonly Group[];
  /** Number of rows that were read to compute the counts. */
  readonly looked: number;
  /** True if the counts are stored in the file because the account is hot. */
  readonly kept: boolean;
}

/**
 * Maximum number of an open day's rows after the end of the interval that may be subtracted from the stored counts.
 * If there are more such rows, the rows before the end are counted instead.
 */
const maxSubtracted = 5_000;
const none: AccountGroups = { groups: [], looked: 0, kept: false };

/**
 * Returns the counts of an account's rows with `start <= id < end`, or null if this would require reading more than
 * `most` rows.
 */
export function accountGroups(file: CountedDay, key: SubjectKey, part: Part, most: number): AccountGroups | null {
  if (!file.mayHold(key)) return none;
  // Try the stored counts first: they take one or two pages, which are soon cached.
  const kept = part.start <= dayStart(file.day);
  if (file.form === 'sealed') {
    const whole = kept && part.end >= dayStart(file.day + 1);
    return (whole ? keptGroups(file, key) : null) ?? countedGroups(file, key, part, most);
  }
  // Run both queries on one snapshot of the file, because rows may be added between them.
  return file.atOnce(
    () => (kept ? keptUntil(file, key, part.end, most) : null) ?? countedGroups(file, key, part, most),
  );
}

interface Part {
  readonly start: number;
  readonly end: number;
}

function keptGroups(file: CountedDay, key: SubjectKey): AccountGroups | null {
  const groups = file.hotCounts.groupsOf(key);
  return groups.length > 0 && groups.length <= maxGroups ? { groups, looked: 0, kept: true } : null;
}

/** Returns the stored counts of an open day, minus the rows accepted at or after `end`. */
function keptUntil(file: CountedDay, key: SubjectKey, end: number, most: number): AccountGroups | null {
  const all = keptGroups(file, key);
  if (!all) return null;
  const limit = Math.min(most, maxSubtracted);
  const behind = file.packedRows(key, end, dayStart(file.day + 1), limit + 1);
  if (behind.length > limit) return null;
  return { ...all, groups: without(all.groups, groupsOfPacked(behind), file.path), looked: behind.length };
}

function countedGroups(file: CountedDay, key: SubjectKey, { start, end }: Part, most: number): AccountGroups | null {
  const rows = file.packedRows(key, start, end, most + 1);
  return rows.length > most ? null : { groups: groupsOfPacked(rows), looked: rows.length, kept: false };
}

/**
 * Subtracts groups from the stored groups. Throws `damaged` if a count becomes negative, because the stored counts are
 * then wrong.
 */
function without(groups: readonly Group[], others: readonly Group[], path: string): readonly Group[] {
  if (others.length === 0) return groups;
  const left = new Map<string, Group>();
  for (const [sign, some] of [
    [1, groups],
    [-1, others],
  ] as const) {
    for (const [source, val, target, applied, removed] of some) {
      const name = `${source} ${val} ${target}`;
      const [, , , a, r] = left.get(name) ?? [0, 0, 0, 0, 0];
      left.set(name, [source, val, target, a + sign * applied, r + sign * removed]);
    }
  }
  const counts = [...left.values()];
  if (counts.some(([, , , applied, removed]) => applied < 0 || removed < 0)) {
    throw new StoreError('damaged', `${path}: the counts of an account do not match its rows`);
  }
  return counts.filter(([, , , applied, removed]) => applied + removed > 0);
}

interface Sum {
  applied: number;
  removed: number;
}

/** Upper bound of the numeric ids of values in a file; see `packedRowSql`. */
const valueIds = 2 ** 29;

/** Sums over the groups of several files. The numeric id of a name may differ between the files. */
class TallySums {
  readonly #filter: AccountFilter;
  readonly #labelers = new Map<string, Sum>();
  readonly #values = new Map<string, Sum>();
  readonly #groups = new GroupSums();

  constructor(filter: AccountFilter) {
    this.#filter = filter;
  }

  /** Number of labelers, values and their combinations, which indicates the memory that the sums use. */
  get names(): number {
    return this.#labelers.size + this.#values.size + this.#groups.size;
  }

  /** Adds the sums of other days. */
  merge(others: TallySums): void {
    for (const [name, sum] of others.#labelers) increase(sumOf(this.#labelers, name), sum.applied, sum.removed);
    for (const [name, sum] of others.#values) increase(sumOf(this.#values, name), sum.applied, sum.removed);
    this.#groups.merge(others.#groups);
  }

  /** Adds the groups of a day; returns the counts of that day. */
  add(groups: readonly Group[], file: CountedDay | undefined): DayCounts {
    const { removed: only } = this.#filter;
    const day = { rows: 0, account: zero(), post: zero(), record: zero() };
    if (!file) return day;
    const labelers = new Map<number, Sum>();
    const values = new Map<number, Sum>();
    const pairs = new Map<number, Sum>();
    const agrees = this.#condition(file);
    for (const group of groups) {
      const [source, val, about, applied, removed] = group;
      day.rows += applied + removed;
      increase(sumOf(labelers, source), applied, removed);
      increase(sumOf(values, val), applied, removed);
      if (!agrees(group)) continue;
      const matching = [only === true ? 0 : applied, only === false ? 0 : removed] as const;
      increase(day[targetKinds[about] ?? 'record'], ...matching);
      increase(sumOf(pairs, source * valueIds + val), ...matching);
    }
    // Convert ids to names only after summing, because many groups share an id and the ids are specific to the file.
    for (const [id, sum] of labelers)
      increase(sumOf(this.#labelers, file.nameOf('source', id)), sum.applied, sum.removed);
    for (const [id, sum] of values) increase(sumOf(this.#values, file.nameOf('val', id)), sum.applied, sum.removed);
    for (const [id, sum] of pairs) {
      const labeler = file.nameOf('source', Math.floor(id / valueIds));
      this.#groups.add(labeler, file.nameOf('val', id % valueIds), file.day, sum);
    }
    return day;
  }

  /** Returns a predicate for the groups of a file: true if a group matches the filter's labeler, value and target. */
  #condition(file: CountedDay): (group: Group) => boolean {
    const { labeler, value, target } = this.#filter;
    if (labeler === undefined && value === undefined && target === undefined) return () => true;
    return ([source, val, about]) =>
      (labeler === undefined || file.nameOf('source', source) === labeler) &&
      (value === undefined || file.nameOf('val', val) === value) &&
      (target === undefined || targetKinds[about] === target);
  }

  /** Returns the sums by labeler, by value, and by both, sorted as in a tally. */
  result(): Pick<AccountTally, 'labelers' | 'values' | 'groups'> {
    return {
      labelers: sortedByCount(this.#labelers).map(([labeler, sum]) => ({ labeler, ...sum })),
      values: sortedByCount(this.#values)
        .slice(0, maxTallyValues)
        .map(([value, sum]) => ({ value, ...sum })),
      groups: this.#groups.result(),
    };
  }
}

function zero(): Sum {
  return { applied: 0, removed: 0 };
}

function sumOf<Name>(sums: Map<Name, Sum>, name: Name): Sum {
  let sum = sums.get(name);
  if (!sum) {
    sum = zero();
    sums.set(name, sum);
  }
  return sum;
}

function increase(sum: Sum, applied: number, removed: number): void {
  sum.applied += applied;
  sum.removed += removed;
}

function sortedByCount(sums: ReadonlyMap<string, Sum>): [string, Sum][] {
  return [...sums].sort(([a, x], [b, y]) => y.applied + y.removed - x.applied - x.removed || (a < b ? -1 : 1));
}
