import { crc32 } from 'node:zlib';
import { parseInstant } from '../../../contract/timestamp.ts';
import { delayRangeOf, maxCountedValueBytes, maxCountedValues } from '../../counts.ts';
import { isLive, removalFlag } from '../base/row.ts';
import type { Queries } from '../base/session.ts';
import { partitionOf } from '../schema/migrate.ts';

/** Minimum number of rows on one day for which an account's counts are stored. */
const hotRows = 64;
/** Maximum number of groups per account that a sealed day stores and that a tally reads. */
export const maxGroups = 5_000;

/**
 * Number of one-byte counters. Subjects with the same hash share a counter, so a counter below its maximum is at least
 * the number of rows of each of its subjects since the writer started.
 */
const counters = 2 ** 20;
/** Maximum value of a counter. */
const highest = 255;

/** SQL expression for the hash of a row's value. */
const valKey = "substring(sha256(convert_to(val, 'UTF8')) for 16)";

/** SQL condition for the rows of the accounts `$1`. The array of hashes is computed once, and finds rows in the index. */
const ofAccounts = `subject_hash(subject) = ANY (ARRAY(SELECT subject_hash(s) FROM unnest($1::text[]) s))
  AND account_key(subject) = ANY ($1::text[])`;

/** Returns SQL that selects rows of a day's table by a condition, counts them by group, and stores the counts. */
function groupsSql(day: number, condition: string): string {
  return `INSERT INTO account_group(day, subject, source, target, val_key, val, applied, removed)
    SELECT ${day}, account_key(subject), source, target, ${valKey}, min(val),
      count(*) FILTER (WHERE flags & ${removalFlag} = 0), count(*) FILTER (WHERE flags & ${removalFlag} <> 0)
    FROM ${partitionOf(day)} WHERE ${condition} GROUP BY 2, source, target, ${valKey}
    ON CONFLICT (day, subject, source, target, val_key) DO UPDATE SET
      applied = account_group.applied + excluded.applied, removed = account_group.removed + excluded.removed`;
}

/**
 * Maintains the counts of accounts with many rows while rows are added to a day. If counts are stored for an account,
 * they include all its rows. Counts may be missing for an account with many rows, because the in-memory counting starts
 * when the writer starts.
 */
export class HotAccounts {
  readonly #day: number;
  readonly #noticed = Buffer.alloc(counters);
  /** Accounts whose counts are stored. */
  readonly #kept: Set<string>;

  private constructor(day: number, kept: Set<string>) {
    this.#day = day;
    this.#kept = kept;
  }

  static async load(queries: Queries, day: number): Promise<HotAccounts> {
    const sql = 'SELECT DISTINCT subject FROM account_group WHERE day = $1';
    const rows = await queries.rows<{ subject: string }>(sql, [day]);
    return new HotAccounts(day, new Set(rows.map(({ subject }) => subject)));
  }

  /** Returns true if counts are stored for an account. */
  isKept(subject: string): boolean {
    return this.#kept.has(subject);
  }

  /** Counts the rows of a batch. Returns accounts without stored counts that may have become hot. */
  notice(rows: readonly { readonly subject: string }[]): readonly string[] {
    const fresh = new Set<string>();
    for (const { subject } of rows) {
      if (!this.#kept.has(subject) && this.#countOne(subject) >= hotRows) fresh.add(subject);
    }
    return [...fresh];
  }

  /**
   * Stores the counts of all rows of the day for the accounts that have become hot, including the rows that the same
   * transaction has inserted. Returns these accounts.
   */
  async countHot(queries: Queries, fresh: readonly string[]): Promise<readonly string[]> {
    if (fresh.length === 0) return [];
    const many = await queries.rows<{ subject: string }>(
      `SELECT account_key(subject) AS subject FROM ${partitionOf(this.#day)} WHERE ${ofAccounts}
       GROUP BY 1 HAVING count(*) >= ${hotRows}`,
      [fresh],
    );
    const hot = many.map(({ subject }) => subject);
    if (hot.length > 0) await queries.run(groupsSql(this.#day, ofAccounts), [hot]);
    return hot;
  }

  /** Remembers accounts whose counts were stored. Must be called after the transaction is committed. */
  keep(subjects: readonly string[]): void {
    for (const subject of subjects) this.#kept.add(subject);
  }

  /** Counts one row of a subject. Returns the subject's counter, which stays at 255 once it has reached that value. */
  #countOne(subject: string): number {
    const counter = crc32(subject) % counters;
    const noticed = Math.min(highest, (this.#noticed[counter] ?? 0) + 1);
    this.#noticed[counter] = noticed;
    return noticed;
  }
}

/**
 * Recomputes and replaces the stored counts of a day that no longer changes, for all accounts with many rows. Omits
 * accounts with more than `maxGroups` groups.
 */
export async function recountGroups(queries: Queries, day: number): Promise<void> {
  await queries.run('DELETE FROM account_group WHERE day = $1', [day]);
  const table = partitionOf(day);
  const many = `account_key(subject) IN
    (SELECT account_key(subject) FROM ${table} GROUP BY 1 HAVING count(*) >= ${hotRows})`;
  await queries.run(groupsSql(day, many));
  await queries.run(
    `DELETE FROM account_group WHERE day = $1 AND subject IN
     (SELECT subject FROM account_group WHERE day = $1 GROUP BY subject HAVING count(*) > ${maxGroups})`,
    [day],
  );
}

/** Maximum number of cached values of all labelers together. */
const maxCached = 200_000;

/**
 * Values that a day counts by name, per labeler. A value keeps its entry until the day ends. Once the limit is
 * reached, no other value gets an entry on that day.
 */
export class NamedValues {
  readonly #day: number;
  readonly #bySource = new Map<number, Set<string>>();
  #size = 0;

  constructor(day: number) {
    this.#day = day;
  }

  /** Loads the named values of labelers that are not in the cache. */
  async load(queries: Queries, sources: ReadonlySet<number>): Promise<void> {
    if (this.#size > maxCached) this.clear();
    const missing = [...sources].filter((source) => !this.#bySource.has(source));
    if (missing.length === 0) return;
    for (const source of missing) this.#bySource.set(source, new Set());
    const rows = await queries.rows<{ source: number; key: string }>(
      'SELECT source, key FROM labeler_count WHERE day = $1 AND source = ANY ($2::int[]) AND kind = $3',
      [this.#day, missing, labelerKinds.value],
    );
    for (const { source, key } of rows) this.#bySource.get(source)?.add(key);
    this.#size += rows.length;
  }

  /** Returns true if the named values of the labelers of all rows are in the cache. */
  knows(rows: readonly { readonly source: number }[]): boolean {
    return rows.every(({ source }) => this.#bySource.has(source));
  }

  /**
   * Returns true if a value is counted by name. Adds a value of at most `maxCountedValueBytes` bytes while the
   * labeler has fewer than `maxCountedValues` named values.
   */
  isNamed(source: number, value: string): boolean {
    const values = this.#bySource.get(source);
    if (!values || values.has(value)) return values !== undefined;
    if (values.size >= maxCountedValues || Buffer.byteLength(value) > maxCountedValueBytes) return false;
    values.add(value);
    this.#size += 1;
    return true;
  }

  /** Discards the cache. Must be called after a failed commit. */
  clear(): void {
    this.#bySource.clear();
    this.#size = 0;
  }
}

/** Number that the database stores for each kind of labeler counter. */
export const labelerKinds = { verdict: 0, value: 1, others: 2, delay: 3 } as const;

/** Returns the index of the delay range of a row, or null if the row is not live or its `cts` is not a valid time. */
export function delayOf(at: number, flags: number, cts: string): number | null {
  if (!isLive(flags)) return null;
  const authored = parseInstant(cts);
  return authored === null ? null : delayRangeOf(Math.max(0, Math.floor((at - authored) / 1000)));
}
