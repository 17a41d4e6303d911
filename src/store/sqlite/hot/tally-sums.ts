import { targetKinds } from '../../../contract/vocabulary.ts';
import { type AccountTally, type DayCounts, maxTallyValues } from '../../account-counts.ts';
import { GroupSums } from '../../common/group-sums.ts';
import type { AccountFilter } from '../../port.ts';
import type { CountedDay } from './counted-day.ts';
import type { Group } from './group.ts';

interface Sum {
  applied: number;
  removed: number;
}

/** Upper bound of the numeric ids of values in a file; see `packedRowSql`. */
const valueIds = 2 ** 29;

/** Sums over the groups of several files. The numeric id of a name may differ between the files. */
export class TallySums {
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
