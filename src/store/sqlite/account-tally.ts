import { targetKinds } from '../../contract/vocabulary.ts';
import { StoreError } from '../errors.ts';
import {
  type AccountDay,
  type AccountFilter,
  type AccountTally,
  type DayCounts,
  maxTallyValues,
  type StoreReader,
} from '../port.ts';
import { day as dayLength, dayOf, dayStart, micros } from '../time.ts';
import { assertInterval } from './account-read.ts';
import type { Group } from './busy.ts';
import type { DayReader } from './day-reader.ts';
import type { Days } from './days.ts';
import { type SubjectKey, subjectKey } from './row.ts';

interface Sum {
  applied: number;
  removed: number;
}

/** An account's rows of an interval in numbers: kept ones where there are, else counted within the budget. */
export function tallyAccount(days: Days, query: Parameters<StoreReader['tallyAccount']>[0]): AccountTally {
  assertInterval(query);
  const { account, filter = {}, budget, start, end } = query;
  if (!Number.isInteger(budget) || budget < 1) throw new StoreError('invalid_query', 'budget must be at least 1');
  const key = subjectKey(account);
  return days.over(query, (look) => {
    const sums = new Sums(filter);
    const found: AccountDay[] = [];
    const files = new Map(look.days.map((file) => [file.day, file]));
    let left = budget;
    for (let day = dayOf(end - 1); day >= dayOf(start); day--) {
      const part = { start: micros(Math.max(start, dayStart(day))), end: micros(Math.min(end, dayStart(day + 1))) };
      const file = files.get(day);
      const counted = file ? groupsOf(file, key, part.start, part.end, left) : { groups: [], looked: 0 };
      if (counted === null) left = 0;
      else left -= counted.looked;
      found.push({ ...part, counts: counted && sums.add(counted.groups, file) });
    }
    return { days: found.reverse(), ...sums.result() };
  });
}

/** The account's groups of a day's part, and how many rows were looked at for them; null beyond `most`. */
function groupsOf(
  file: DayReader,
  key: SubjectKey,
  start: number,
  end: number,
  most: number,
): { readonly groups: readonly Group[]; readonly looked: number } | null {
  if (end - start === dayLength) {
    const kept = file.busyGroups(key);
    if (kept.length > 0) return { groups: kept, looked: 0 };
  }
  const groups = file.groups(key, start, end, most);
  return groups && { groups, looked: groups.reduce((sum, [, , , applied, removed]) => sum + applied + removed, 0) };
}

/** Sums over the groups of several files, each with numbers of its own. */
class Sums {
  readonly #filter: AccountFilter;
  readonly #labelers = new Map<string, Sum>();
  readonly #values = new Map<string, Sum>();

  constructor(filter: AccountFilter) {
    this.#filter = filter;
  }

  /** Adds a day's groups; gives that day's counts. */
  add(groups: readonly Group[], file: DayReader | undefined): DayCounts {
    const { labeler, value, removed: only, target } = this.#filter;
    const day = { rows: 0, account: zero(), post: zero(), record: zero() };
    for (const [source, val, about, applied, removed] of groups) {
      const of = file?.nameOf('source', source) ?? '';
      const named = file?.nameOf('val', val) ?? '';
      day.rows += applied + removed;
      increase(sumOf(this.#labelers, of), applied, removed);
      increase(sumOf(this.#values, named), applied, removed);
      const kind = targetKinds[about] ?? 'record';
      if ((labeler ?? of) !== of || (value ?? named) !== named || (target ?? kind) !== kind) continue;
      increase(day[kind], only === true ? 0 : applied, only === false ? 0 : removed);
    }
    return day;
  }

  result(): Pick<AccountTally, 'labelers' | 'values'> {
    return {
      labelers: mostFirst(this.#labelers).map(([labeler, sum]) => ({ labeler, ...sum })),
      values: mostFirst(this.#values)
        .slice(0, maxTallyValues)
        .map(([value, sum]) => ({ value, ...sum })),
    };
  }
}

function zero(): Sum {
  return { applied: 0, removed: 0 };
}

function sumOf(sums: Map<string, Sum>, name: string): Sum {
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

function mostFirst(sums: ReadonlyMap<string, Sum>): [string, Sum][] {
  return [...sums].sort(([a, x], [b, y]) => y.applied + y.removed - x.applied - x.removed || (a < b ? -1 : 1));
}
