import {
  type AccountDay,
  type AccountTally,
  type DayCounts,
  type EventCount,
  GroupSums,
  maxTallyValues,
} from '../../counts.ts';
import { StoreError } from '../../errors.ts';
import type { AccountFilter, StoreReader } from '../../port.ts';
import { day as dayLength, dayOf, dayStart, micros } from '../../time.ts';
import { ofSubject, removalFlag, subjectDid, subjectKey, targets } from '../base/row.ts';
import type { Queries, Session } from '../base/session.ts';
import { maxGroups } from '../count/counters.ts';
import { type Query, readRows } from './queries.ts';

/** Creates the methods of the port that count the rows of accounts. */
export function tallyReads(query: Query, session: Session) {
  return {
    tallyAccount: (asked) => query(async () => tallyAccount(session, asked)),
    busyAccounts: (limit) => query(() => busyAccounts(session, limit)),
  } satisfies Partial<StoreReader>;
}

/**
 * Maximum number of rows after the end of the interval that may be subtracted from the stored counts of its last day.
 */
const maxSubtracted = 5_000;

/** Number of an account's rows on one day with the same labeler, value and target kind. */
interface Group {
  readonly day: number;
  readonly did: string;
  readonly val: string;
  readonly target: number;
  readonly applied: number;
  readonly removed: number;
}

type TallyQuery = Parameters<StoreReader['tallyAccount']>[0];

/** Counts an account's rows: from stored counts for days that have them, otherwise from the rows, within the budget. */
function tallyAccount(session: Session, query: TallyQuery): Promise<AccountTally> {
  const { filter = {}, budget } = query;
  if (!Number.isInteger(budget) || budget < 1) throw new StoreError('invalid_query', 'the budget must be at least 1');
  return readRows(session, query, async (queries) => {
    const counting = new Counting(queries, query);
    const byDay = await counting.groupsByDay();
    const days: AccountDay[] = [];
    const groups: Group[] = [];
    for (let day = dayOf(query.start); day <= dayOf(query.end - 1); day++) {
      const of = byDay.get(day) ?? null;
      if (of) groups.push(...of);
      const part = {
        start: micros(Math.max(query.start, dayStart(day))),
        end: micros(Math.min(query.end, dayStart(day + 1))),
      };
      days.push({ ...part, counts: of && countsOf(of, filter) });
    }
    return { days, labelers: labelersOf(groups), values: valuesOf(groups), groups: groupsOf(groups, filter) };
  });
}

/** State of one tally. Its days are counted newest first and share one budget. */
class Counting {
  readonly #queries: Queries;
  readonly #query: TallyQuery;
  readonly #subject: string;
  #left: number;

  constructor(queries: Queries, query: TallyQuery) {
    this.#queries = queries;
    this.#query = query;
    this.#subject = subjectKey(query.account);
    this.#left = query.budget;
  }

  /** Returns the groups of each day, or null for a day that could not be counted within the budget. */
  async groupsByDay(): Promise<ReadonlyMap<number, readonly Group[] | null>> {
    const { start, end } = this.#query;
    const byDay = new Map<number, readonly Group[] | null>(await this.#stored());
    const last = dayOf(end - 1);
    const partial = byDay.get(last);
    if (partial && end < dayStart(last + 1)) {
      const rest = await this.#without(partial, end, dayStart(last + 1));
      if (rest) byDay.set(last, rest);
      else byDay.delete(last);
    }
    const cold = [];
    for (let day = last; day >= dayOf(start); day--) if (!byDay.has(day)) cold.push(day);
    if (cold.length === 0) return byDay;
    const counted = await this.#counted(cold);
    let exceeded = false;
    for (const day of cold) {
      const groups = counted.get(day) ?? [];
      this.#left -= rowsIn(groups);
      exceeded ||= this.#left < 0;
      byDay.set(day, exceeded ? null : groups);
    }
    if (exceeded) await this.#countEmpty(cold, byDay);
    return byDay;
  }

  /** Returns the stored groups of the days that begin in the interval. Omits days with more than `maxGroups` groups. */
  async #stored(): Promise<Map<number, Group[]>> {
    const { start, end } = this.#query;
    const first = Math.ceil(start / dayLength);
    // The index begins with the day, so a range of days would read the groups of all accounts.
    const days = Array.from({ length: Math.max(0, dayOf(end - 1) - first + 1) }, (_, at) => first + at);
    const rows = await this.#queries.rows<Group>(
      `SELECT g.day, s.did, g.val, g.target, g.applied, g.removed FROM
       (SELECT *, count(*) OVER (PARTITION BY day) AS groups FROM account_group
        WHERE day = ANY ($2::int[]) AND subject = $1) g JOIN source s ON s.id = g.source WHERE groups <= ${maxGroups}`,
      [this.#subject, days],
    );
    return Map.groupBy(rows, ({ day }) => day);
  }

  /**
   * Subtracts the rows with `from <= at < to` from a day's groups. Returns null if there are too many such rows.
   * Throws `damaged` if a count would become negative.
   */
  async #without(groups: readonly Group[], from: number, to: number): Promise<readonly Group[] | null> {
    const limit = Math.min(this.#left, maxSubtracted);
    const later = await this.#rows(from, to, limit + 1, 'true');
    const rows = rowsIn(later);
    if (rows > limit) return null;
    this.#left -= rows;
    if (rows === 0) return groups;
    const sums = new Map(groups.map((group) => [nameOf(group), group]));
    for (const group of later) {
      const sum = sums.get(nameOf(group));
      const rest = sum && { ...sum, applied: sum.applied - group.applied, removed: sum.removed - group.removed };
      if (!rest || rest.applied < 0 || rest.removed < 0) {
        throw new StoreError('damaged', 'the counts of an account do not match its rows');
      }
      sums.set(nameOf(group), rest);
    }
    return [...sums.values()].filter(({ applied, removed }) => applied + removed > 0);
  }

  /** Returns the groups of the newest rows on the given days. Reads at most one row more than the budget allows. */
  async #counted(days: readonly number[]): Promise<Map<number, Group[]>> {
    const { start, end } = this.#query;
    const condition = `at / ${dayLength} = ANY ($5::bigint[])`;
    return Map.groupBy(await this.#rows(start, end, this.#left + 1, condition, days), ({ day }) => day);
  }

  #rows(start: number, end: number, limit: number, condition: string, days?: readonly number[]): Promise<Group[]> {
    return this.#queries.rows<Group>(
      `SELECT g.day::int AS day, s.did, g.val, g.target, g.applied, g.removed FROM
       (SELECT at / ${dayLength} AS day, source, val, target, count(*) FILTER (WHERE flags & ${removalFlag} = 0) AS applied,
        count(*) FILTER (WHERE flags & ${removalFlag} <> 0) AS removed FROM
        (SELECT at, source, val, target, flags FROM observation o WHERE ${ofSubject('o', 1)} AND at >= $2 AND at < $3
         AND ${condition} ORDER BY at DESC LIMIT $4) o GROUP BY 1, 2, 3, 4) g JOIN source s ON s.id = g.source`,
      [this.#subject, start, end, limit, ...(days ? [days] : [])],
    );
  }

  /** Finds the days without any rows among the days that were not counted, and records them as counted. */
  async #countEmpty(cold: readonly number[], byDay: Map<number, readonly Group[] | null>): Promise<void> {
    const { start, end } = this.#query;
    const open = cold.filter((day) => byDay.get(day) === null);
    const rows = await this.#queries.rows<{ day: number }>(
      `SELECT day FROM unnest($4::int[]) AS d(day) WHERE NOT EXISTS (SELECT 1 FROM observation o WHERE ${ofSubject('o', 1)}
       AND at >= greatest($2::bigint, day * ${dayLength}) AND at < least($3::bigint, (day + 1) * ${dayLength}))`,
      [this.#subject, start, end, open],
    );
    for (const { day } of rows) byDay.set(day, []);
  }
}

function nameOf({ did, val, target }: Group): string {
  return JSON.stringify([did, val, target]);
}

function rowsIn(groups: readonly Group[]): number {
  return groups.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

function countsOf(groups: readonly Group[], filter: AccountFilter): DayCounts {
  const counts = { account: zero(), post: zero(), record: zero() };
  for (const group of groups) {
    const { applied, removed } = matching(group, filter);
    const name = targets[group.target] ?? 'record';
    counts[name].applied += applied;
    counts[name].removed += removed;
  }
  return { rows: rowsIn(groups), ...counts };
}

/** Returns the number of a group's rows that match the filter. */
function matching({ did, val, target, applied, removed }: Group, filter: AccountFilter): EventCount {
  const name = targets[target] ?? 'record';
  const isMatch = (filter.labeler ?? did) === did && (filter.value ?? val) === val && (filter.target ?? name) === name;
  if (!isMatch) return zero();
  return { applied: filter.removed === true ? 0 : applied, removed: filter.removed === false ? 0 : removed };
}

function groupsOf(groups: readonly Group[], filter: AccountFilter): AccountTally['groups'] {
  const sums = new GroupSums();
  for (const group of groups) sums.add(group.did, group.val, group.day, matching(group, filter));
  return sums.result();
}

function labelersOf(groups: readonly Group[]): AccountTally['labelers'] {
  return sumsBy(groups, ({ did }) => did).map(([labeler, sum]) => ({ labeler, ...sum }));
}

function valuesOf(groups: readonly Group[]): AccountTally['values'] {
  return sumsBy(groups, ({ val }) => val)
    .slice(0, maxTallyValues)
    .map(([value, sum]) => ({ value, ...sum }));
}

function sumsBy(groups: readonly Group[], nameIn: (group: Group) => string) {
  const sums = new Map<string, { applied: number; removed: number }>();
  for (const group of groups) {
    const sum = sums.get(nameIn(group)) ?? zero();
    sums.set(nameIn(group), sum);
    sum.applied += group.applied;
    sum.removed += group.removed;
  }
  return [...sums].sort(([a, x], [b, y]) => y.applied + y.removed - x.applied - x.removed || (a < b ? -1 : 1));
}

function zero(): { applied: number; removed: number } {
  return { applied: 0, removed: 0 };
}

/** Maximum number of groups of an account that is used for warm-up. */
const fewGroups = 1_000;

/** Returns hot accounts of the newest sealed day, without those of many groups. */
async function busyAccounts(session: Session, limit: number): Promise<string[]> {
  const rows = await session.read((queries) =>
    queries.rows<{ subject: string }>(
      `SELECT subject FROM account_group WHERE day = (SELECT max(day) FROM day WHERE sealed) GROUP BY subject
       HAVING count(*) <= ${fewGroups} ORDER BY subject DESC LIMIT $1`,
      [limit],
    ),
  );
  return rows.map(({ subject }) => subjectDid(subject)).filter((did) => did.startsWith('did:'));
}
