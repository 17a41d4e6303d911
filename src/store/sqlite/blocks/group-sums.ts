import { hash } from 'node:crypto';
import { StoreError } from '../../errors.ts';
import { schemaVersion } from '../base/connection.ts';
import { type DayFile, labelersCountedFrom } from '../schema/day-schema.ts';

/** A value as returned by SQLite. */
export type Cell = number | string | Uint8Array | null;

/** Length of a checksum in bytes: the beginning of a SHA-256 hash. */
const sumBytes = 8;

/**
 * Computes checksums of values, each encoded canonically with its type and length. An instance can be reused, so that
 * its buffer is allocated only once.
 */
export class Checksum {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** Number of bytes that were added since the last checksum. */
  get length(): number {
    return this.#length;
  }

  /** Adds values in order. */
  add(values: readonly Cell[]): void {
    for (const value of values) {
      if (value === null) this.#byte(0);
      else if (typeof value === 'number') {
        this.#byte(1);
        this.#reserve(8);
        this.#length = this.#bytes.writeDoubleLE(value, this.#length);
      } else if (typeof value === 'string') this.#text(value);
      else {
        this.#head(3, value.length);
        this.#reserve(value.length);
        this.#bytes.set(value, this.#length);
        this.#length += value.length;
      }
    }
  }

  /** Returns the checksum of the added values, and starts the next checksum. */
  take(): Buffer {
    const sum = hash('sha256', this.#bytes.subarray(0, this.#length), 'buffer').subarray(0, sumBytes);
    this.#length = 0;
    return sum;
  }

  #text(value: string): void {
    // A character takes at most three bytes. Write the length after the text, because only then is the length known.
    this.#head(2, 0);
    this.#reserve(3 * value.length);
    const written = this.#bytes.write(value, this.#length);
    this.#bytes.writeUInt32LE(written, this.#length - 4);
    this.#length += written;
  }

  #head(type: number, length: number): void {
    this.#byte(type);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(length, this.#length);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

const checksum = new Checksum();

/** Returns the checksum of rows, in the given order. */
export function sumOf(rows: Iterable<readonly Cell[]>): Buffer {
  for (const row of rows) checksum.add(row);
  return checksum.take();
}

/** Creates the error for data in a file that does not match its checksum. */
export function altered(path: string, what: string): StoreError {
  return new StoreError('damaged', `${path}: ${what} differs from what was sealed`);
}

/**
 * Queries for the parts of a sealed day that have one checksum per group of rows. A group consists of the rows of an
 * hour or a minute, or of a whole small table. The first column is the key of the group. The parameters are the first
 * key and the key after the last key.
 */
const groupSql = {
  counter_hour: `SELECT hour, source, applied, removed FROM main.counter_hour
    WHERE hour >= ? AND hour < ? ORDER BY hour, source`,
  counter_minute: `SELECT minute, source, applied, removed, stamps FROM main.counter_minute
    WHERE minute >= ? AND minute < ? ORDER BY minute, source`,
  refusal: `SELECT hour, source, reason, n FROM main.refusal WHERE hour >= ? AND hour < ? ORDER BY hour, source, reason`,
  position: `SELECT 0, source, endpoint, value, accepted_at FROM main.position
    WHERE ? = 0 AND ? = 1 ORDER BY source, endpoint`,
  meta: 'SELECT 0, name, value FROM main.meta WHERE ? = 0 AND ? = 1 ORDER BY name',
  counter_labeler: 'SELECT 0, source, packed FROM main.counter_labeler WHERE ? = 0 AND ? = 1 ORDER BY source',
} as const;

/** A part of a sealed day that is verified by groups. */
export type GroupPart = keyof typeof groupSql;

/** All parts that are verified by groups. */
const groupParts = Object.keys(groupSql) as GroupPart[];

/** Returns the parts of a file that are verified by groups. */
export function groupPartsOf(file: DayFile): GroupPart[] {
  const isCounted = schemaVersion(file.db) >= labelersCountedFrom.sealed;
  return groupParts.filter((part) => isCounted || part !== 'counter_labeler');
}

/** Number of possible groups of a part per day. */
const groupsPerDay: Readonly<Record<GroupPart, number>> = {
  counter_hour: 24,
  counter_minute: 1_440,
  refusal: 24,
  position: 1,
  meta: 1,
  counter_labeler: 1,
};

/** Runs a query and returns its rows as arrays. */
type All = <Row>(sql: string, parameters: readonly unknown[]) => Row[];

/** Returns the range of a part's group keys on a day. A part with only one group has the key 0. */
function keysOf(part: GroupPart, day: number): readonly [from: number, to: number] {
  const n = groupsPerDay[part];
  return n === 1 ? [0, 1] : [day * n, (day + 1) * n];
}

/** Returns the rows of the groups with `from <= key < to`, without the key column. Groups without rows are omitted. */
function rowsByGroup(all: All, part: GroupPart, from: number, to: number): Map<number, Cell[][]> {
  const groups = new Map<number, Cell[][]>();
  for (const [key, ...row] of all<[number, ...Cell[]]>(groupSql[part], [from, to])) {
    const rows = groups.get(key);
    if (rows) rows.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function groupSum(day: number, part: GroupPart, key: number, rows: readonly Cell[][]): Buffer {
  return sumOf([[day, part, key], ...rows]);
}

/** Row id of the checksum over all group keys of a part, which proves that no other group has rows. */
const keysAt = -1;

function keysSum(day: number, part: GroupPart, keys: readonly number[]): Buffer {
  return sumOf([[day, part, 'keys', ...keys]]);
}

/** Yields the checksums of a day's groups, and of the group keys of each part. */
export function* sumsOfDay(all: All, day: number): Generator<readonly [GroupPart, number, Buffer]> {
  for (const part of groupParts) {
    const groups = rowsByGroup(all, part, ...keysOf(part, day));
    for (const [key, rows] of groups) yield [part, key, groupSum(day, part, key, rows)];
    yield [part, keysAt, keysSum(day, part, [...groups.keys()])];
  }
}

/** Reads checksum groups of a sealed day and verifies each of them. */
export class CheckedGroups {
  readonly #file: DayFile;
  readonly #day: number;
  readonly #keys = new Map<GroupPart, ReadonlySet<number>>();

  constructor(file: DayFile, day: number) {
    this.#file = file;
    this.#day = day;
  }

  /** Returns the rows of a part that is a single group. Throws `damaged` if they do not match their checksum. */
  table<Row extends readonly Cell[]>(part: 'position' | 'meta' | 'counter_labeler'): Row[] {
    return [...this.#compared<Row>(part, 0, 1)].map(([, row]) => row);
  }

  /**
   * Yields the rows with `from <= key < to` of a part with hourly or minutely groups, each with its key. Keys of other
   * days have no rows. Throws `damaged` if a group does not match its checksum.
   */
  range<Row extends readonly Cell[]>(part: GroupPart, from: number, to: number): Generator<readonly [number, Row]> {
    const [first, last] = keysOf(part, this.#day);
    return this.#compared(part, Math.max(from, first), Math.min(to, last));
  }

  /** Yields the groups of a part that do not match their checksums. */
  *problems(part: GroupPart): Generator<string> {
    const [first, last] = keysOf(part, this.#day);
    for (const [key, isSound] of this.#soundness(part, first, last)) {
      if (!isSound) yield altered(this.#file.path, `${part} ${key}`).message;
    }
  }

  *#compared<Row extends readonly Cell[]>(
    part: GroupPart,
    from: number,
    to: number,
  ): Generator<readonly [number, Row]> {
    for (const [key, isSound, rows] of this.#soundness(part, from, to)) {
      if (!isSound) throw altered(this.#file.path, `${part} ${key}`);
      for (const row of rows) yield [key, row as unknown as Row];
    }
  }

  /**
   * Yields each group with `from <= key < to` that has rows or should have rows, with the result of its verification.
   */
  *#soundness(part: GroupPart, from: number, to: number): Generator<readonly [number, boolean, Cell[][]]> {
    if (from >= to) return;
    const all: All = (query, parameters) => this.#file.all(query, parameters);
    const sql = 'SELECT key, sum FROM group_sum WHERE part = ? AND key >= ? AND key < ?';
    const sums = new Map(this.#file.all<[number, Cell]>(sql, [part, from, to]));
    const groups = rowsByGroup(all, part, from, to);
    const expected = [...this.#keysOf(part)].filter((key) => key >= from && key < to);
    for (const key of new Set([...expected, ...groups.keys()])) {
      const kept = sums.get(key);
      const rows = groups.get(key) ?? [];
      const isSound = Buffer.isBuffer(kept) && kept.equals(groupSum(this.#day, part, key, rows));
      yield [key, isSound, rows];
    }
  }

  /**
   * Returns the keys of all groups that must have rows. Throws `damaged` if the list of keys does not match its
   * checksum.
   */
  #keysOf(part: GroupPart): ReadonlySet<number> {
    const known = this.#keys.get(part);
    if (known) return known;
    const entries = this.#file.all<[number, Cell]>('SELECT key, sum FROM group_sum WHERE part = ? ORDER BY key', [
      part,
    ]);
    const [first, ...others] = entries;
    const keys = others.map(([key]) => key);
    const isSound =
      first?.[0] === keysAt && Buffer.isBuffer(first[1]) && first[1].equals(keysSum(this.#day, part, keys));
    if (!isSound) throw altered(this.#file.path, `the list of groups of ${part}`);
    const found = new Set(keys);
    this.#keys.set(part, found);
    return found;
  }
}
