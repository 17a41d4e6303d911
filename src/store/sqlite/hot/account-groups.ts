import { StoreError } from '../../errors.ts';
import { dayStart } from '../../time.ts';
import type { SubjectKey } from '../base/row.ts';
import type { CountedDay } from './counted-day.ts';
import { type Group, maxGroups } from './group.ts';
import { groupsOfPacked } from './packed-rows.ts';

/** Counts of an account's rows on one day. */
export interface AccountGroups {
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
