import { StoreError } from '../errors.ts';
import { dayStart } from '../time.ts';
import { mostGroups } from './busy.ts';
import type { DayReader } from './day-reader.ts';
import type { Group } from './group.ts';
import { groupsOfPacked } from './packed-rows.ts';
import type { SubjectKey } from './row.ts';

/** Counts of an account's rows in a day's file. */
export interface AccountGroups {
  readonly groups: readonly Group[];
  /** Rows that were looked at for them. */
  readonly looked: number;
  /** True if the file stores these counts: the account has many rows. */
  readonly kept: boolean;
}

/** Rows of an open day behind the asked end that are taken off the kept counts; of more, those before it are counted. */
const mostBehind = 5_000;
const none: AccountGroups = { groups: [], looked: 0, kept: false };

/** An account's rows with `start <= id < end`; null when more than `most` of them would have to be looked at. */
export function accountGroups(file: DayReader, key: SubjectKey, part: Part, most: number): AccountGroups | null {
  if (!file.mayHold(key)) return none;
  // Kept ones before the rows: what is kept of few subjects is read in a page or two, and soon lies in memory.
  const kept = part.start <= dayStart(file.day);
  if (file.form === 'sealed') {
    const whole = kept && part.end >= dayStart(file.day + 1);
    return (whole ? keptGroups(file, key) : null) ?? countedGroups(file, key, part, most);
  }
  // Of one state of the file, as rows may come between two looks.
  return file.atOnce(
    () => (kept ? keptUntil(file, key, part.end, most) : null) ?? countedGroups(file, key, part, most),
  );
}

interface Part {
  readonly start: number;
  readonly end: number;
}

function keptGroups(file: DayReader, key: SubjectKey): AccountGroups | null {
  const groups = file.busyGroups(key);
  return groups.length > 0 && groups.length <= mostGroups ? { groups, looked: 0, kept: true } : null;
}

/** The kept counts of an open day without the rows that were accepted at or after the end. */
function keptUntil(file: DayReader, key: SubjectKey, end: number, most: number): AccountGroups | null {
  const all = keptGroups(file, key);
  if (!all) return null;
  const limit = Math.min(most, mostBehind);
  const behind = file.packedRows(key, end, dayStart(file.day + 1), limit + 1);
  if (behind.length > limit) return null;
  return { ...all, groups: without(all.groups, groupsOfPacked(behind), file.path), looked: behind.length };
}

function countedGroups(file: DayReader, key: SubjectKey, { start, end }: Part, most: number): AccountGroups | null {
  const rows = file.packedRows(key, start, end, most + 1);
  return rows.length > most ? null : { groups: groupsOfPacked(rows), looked: rows.length, kept: false };
}

/** Groups without the rows of others, which are among them; where they are not, the kept ones are wrong. */
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
