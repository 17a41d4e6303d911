import { crc32 } from 'node:zlib';
import { parseInstant } from '../../../contract/timestamp.ts';
import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import { delayRangeOf, maxCountedValueBytes, maxCountedValues } from '../../counts.ts';
import { StoreError } from '../../errors.ts';
import { dayStart } from '../../time.ts';
import { type Sqlite, schemaVersion } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import { liveFlag, removalFlag, type StoredRow, verdictIn } from '../base/row.ts';
import type { CheckedGroups } from '../blocks/group-sums.ts';
import { type DayFile, labelersCountedFrom, metaNames } from '../schema/day-schema.ts';

/** Numbers of applications and removals. */
export type Events = [applied: number, removed: number];

/** Counters of one labeler's rows on one day. Values are identified by their numeric ids in the day's file. */
export interface DayCounters {
  readonly verdicts: Map<SignatureVerdict, number>;
  /**
   * Counts by value, for at most `maxCountedValues` values. A value keeps its entry until the day is sealed, even if
   * its rows are purged. Once the limit is reached, no other value gets an entry on that day.
   */
  readonly values: Map<number, Events>;
  /** Total counts of the rows of all values without an entry. */
  readonly others: Events;
  /** Number of live rows by delay range; ranges without rows may be absent. */
  readonly delays: Map<number, number>;
}

/** Returns counters in which every count is zero. */
export function emptyCounters(): DayCounters {
  return { verdicts: new Map(), values: new Map(), others: [0, 0], delays: new Map() };
}

/** Returns true if every count is zero. */
export function isEmpty({ verdicts }: DayCounters): boolean {
  return signatureVerdicts.every((verdict) => (verdicts.get(verdict) ?? 0) === 0);
}

/** Properties of a row that are counted. */
interface CountedRow {
  readonly value: number;
  readonly isRemoval: boolean;
  readonly verdict: SignatureVerdict;
  /** Index of the row's delay range, or null if the row is not live or its `cts` is not a valid time. */
  readonly delay: number | null;
}

/** Columns that `countedValues` requires, for use in SQL. */
const countedColumns = 'id, val, flags, cts, cts_text';

/** Returns the counted properties of a row, given as the columns in `countedColumns`. */
function countedValues(id: number, value: number, flags: number, cts: number | null, text: string | null): CountedRow {
  return {
    value,
    isRemoval: (flags & removalFlag) !== 0,
    verdict: verdictIn(flags),
    delay: (flags & liveFlag) === 0 ? null : delayRange(id, cts, text),
  };
}

/** Returns the counted properties of a stored row. */
export function countedRow([id, , , value, , , flags, , cts, text]: StoredRow): CountedRow {
  return countedValues(id, value, flags, cts, text);
}

function delayRange(id: number, cts: number | null, text: string | null): number | null {
  const authored = cts === null ? parseInstant(text ?? '') : cts * 1000;
  if (authored === null) return null;
  return delayRangeOf(Math.max(0, Math.floor((id - authored) / 1000)));
}

/** Adds a row to the counters. A value whose text is too long gets no separate entry. */
function addRow(counters: DayCounters, row: CountedRow, isLong: boolean): void {
  const { values } = counters;
  if (!isLong && values.size < maxCountedValues && !values.has(row.value)) values.set(row.value, [0, 0]);
  changeBy(counters, row, 1);
}

function changeBy({ verdicts, values, others, delays }: DayCounters, row: CountedRow, by: 1 | -1): void {
  const { value, verdict, delay, isRemoval } = row;
  verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + by);
  (values.get(value) ?? others)[isRemoval ? 1 : 0] += by;
  if (delay !== null) delays.set(delay, (delays.get(delay) ?? 0) + by);
}

/** Reads the labeler counters of a day's file. */
export class StoredLabelerCounters {
  readonly #file: DayFile;
  readonly #day: number;
  readonly #form: DayForm;
  readonly #groups: CheckedGroups | null;
  /** Returns a number that the file stores under a name, or null if the file has no such number. */
  readonly #meta: (name: string) => number | null;

  constructor(
    file: DayFile,
    { day, form }: { readonly day: number; readonly form: DayForm },
    groups: CheckedGroups | null,
    meta: (name: string) => number | null,
  ) {
    this.#file = file;
    this.#day = day;
    this.#form = form;
    this.#groups = groups;
    this.#meta = meta;
  }

  /**
   * Returns the stamp from which the rows of the day are counted, or the end of the day if the file has no counters.
   */
  from(): number {
    if (!this.#isStored()) return dayStart(this.#day + 1);
    return this.#meta(metaNames.countedFrom) ?? dayStart(this.#day);
  }

  /** Yields the numeric id and the counters of every labeler. */
  *all(): Generator<readonly [source: number, counters: DayCounters]> {
    for (const [source, packed] of this.packed()) yield [source, this.unpacked(source, packed)];
  }

  /** Yields the numeric id and the packed counters of every labeler. */
  *packed(): Generator<readonly [source: number, packed: Buffer]> {
    if (!this.#isStored()) return;
    const rows = this.#groups
      ? this.#groups.table<readonly [number, Buffer]>('counter_labeler')
      : this.#file.all<[number, unknown]>('SELECT source, packed FROM counter_labeler ORDER BY source', []);
    for (const [source, packed] of rows) yield [source, Buffer.isBuffer(packed) ? packed : Buffer.alloc(0)];
  }

  /** Unpacks stored counters of a labeler. Throws `damaged` if they do not match their checksum. */
  unpacked(source: number, packed: Buffer): DayCounters {
    return unpackCounters(packed, source, this.#file.path);
  }

  /** Returns true if the file has counters. Not cached, because a writer may migrate an open day at any time. */
  #isStored(): boolean {
    return schemaVersion(this.#file.db) >= labelersCountedFrom[this.#form];
  }
}

/** Changes the counters of labelers in a file, in the caller's transaction. */
class WrittenCounters {
  readonly #path: string;
  readonly #read: (source: number) => unknown;
  readonly #write: (source: number, packed: Buffer) => void;

  constructor(db: Sqlite) {
    this.#path = db.name;
    const read = db.prepare<[number], unknown>('SELECT packed FROM main.counter_labeler WHERE source = ?').pluck();
    const write = db.prepare(
      `INSERT INTO main.counter_labeler(source, packed) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET packed = excluded.packed`,
    );
    this.#read = (source) => read.get(source);
    this.#write = (source, packed) => write.run(source, packed);
  }

  change(source: number, work: (counters: DayCounters) => void): void {
    const packed = this.#read(source);
    const counters = packed === undefined ? emptyCounters() : unpackCounters(packed, source, this.#path);
    work(counters);
    this.#write(source, packCounters(counters, source, this.#path));
  }
}

/**
 * Returns a function that adds stored rows to the counters of their labelers. `textOf` returns the value of the row
 * at the given index as text.
 */
export function labelerCounterWriter(
  db: Sqlite,
): (rows: readonly StoredRow[], textOf: (row: number) => string) => void {
  const counters = new WrittenCounters(db);
  return (rows, textOf) => {
    const bySource = Map.groupBy(rows.keys(), (at) => rows[at]?.[2] ?? 0);
    for (const [source, indexes] of bySource) {
      counters.change(source, (counted) => {
        for (const at of indexes) {
          const row = rows[at];
          if (row) addRow(counted, countedRow(row), isLongValue(textOf(at)));
        }
      });
    }
  };
}

/** Returns true if a value is too long to be counted by name. */
function isLongValue(value: string): boolean {
  return value.length > maxCountedValueBytes || Buffer.byteLength(value) > maxCountedValueBytes;
}

/** Columns of a removed row. */
interface RemovedRow {
  readonly id: number;
  readonly val: number;
  readonly flags: number;
  readonly cts: number | null;
  readonly ctsText: string | null;
}

/**
 * Returns a function that subtracts removed rows of a labeler from its counters in an open day, in the caller's
 * transaction. Ignores rows that an earlier version accepted, because they were never counted. The function has no
 * effect on a file without counters.
 */
export function labelerCounterSubtraction(db: Sqlite): (source: number, rows: readonly RemovedRow[]) => void {
  if (!hasCounters(db, 'main')) return () => undefined;
  const counters = new WrittenCounters(db);
  const from = db.prepare<[string], number>('SELECT value FROM meta WHERE name = ?').pluck().get(metaNames.countedFrom);
  return (source, rows) => {
    const counted = rows.filter(({ id }) => id >= (from ?? 0));
    if (counted.length === 0) return;
    counters.change(source, (kept) => {
      for (const { id, val, flags, cts, ctsText } of counted) {
        changeBy(kept, countedValues(id, val, flags, cts, ctsText), -1);
      }
    });
  };
}

/** Returns true if a file has counters per labeler. */
function hasCounters(db: Sqlite, schema: 'main' | 'day'): boolean {
  return db.prepare(`SELECT 1 FROM ${schema}.sqlite_schema WHERE name = 'counter_labeler'`).get() !== undefined;
}

/** Removes the counters of labelers without rows, and the counts of values without rows, from a new sealed day. */
export function dropEmptyCounters(db: Sqlite): void {
  const stored = db.prepare<[], [number, unknown]>('SELECT source, packed FROM main.counter_labeler').raw().all();
  const drop = db.prepare('DELETE FROM main.counter_labeler WHERE source = ?');
  const write = db.prepare('UPDATE main.counter_labeler SET packed = ? WHERE source = ?');
  for (const [source, packed] of stored) {
    const counters = unpackCounters(packed, source, db.name);
    if (isEmpty(counters)) {
      drop.run(source);
      continue;
    }
    for (const [value, [applied, removed]] of counters.values) {
      if (applied + removed === 0) counters.values.delete(value);
    }
    write.run(packCounters(counters, source, db.name), source);
  }
}

/**
 * Copies the labeler counters of the attached database `day` to a new sealed day, except the counters of the labeler
 * with the numeric id `without`. If the attached day has no counters, the new day records that its rows are not
 * counted.
 */
export function copyLabelerCounters(db: Sqlite, day: number, without = -1): void {
  if (!hasCounters(db, 'day')) setUncounted(db, day);
  else db.prepare('INSERT INTO main.counter_labeler SELECT * FROM day.counter_labeler WHERE source <> ?').run(without);
}

/**
 * Computes the labeler counters of a new sealed day from its rows. If the attached database `day` has no counters,
 * records that the rows of the new day are not counted.
 */
export function recountNewDay(db: Sqlite, day: number): void {
  if (hasCounters(db, 'day')) recountLabelers(db);
  else setUncounted(db, day);
}

function setUncounted(db: Sqlite, day: number): void {
  db.prepare('INSERT INTO main.meta(name, value) VALUES (?, ?)').run(metaNames.countedFrom, dayStart(day + 1));
}

/**
 * Recomputes the labeler counters from the counted rows, in order of acceptance, and replaces the stored counters.
 * Has no effect on a file without counters.
 */
export function recountLabelers(db: Sqlite): void {
  if (!hasCounters(db, 'main')) return;
  const from = db.prepare<[string], number>('SELECT value FROM main.meta WHERE name = ?').pluck();
  const long = db
    .prepare<[number], number>('SELECT id FROM main.val WHERE length(CAST(name AS BLOB)) > ?')
    .pluck()
    .all(maxCountedValueBytes);
  const longValues = new Set(long);
  const read = db
    .prepare<[number], [number, ...Parameters<typeof countedValues>]>(
      `SELECT source, ${countedColumns} FROM main.observation WHERE id >= ? ORDER BY id`,
    )
    .raw();
  const bySource = new Map<number, DayCounters>();
  for (const [source, ...columns] of read.iterate(from.get(metaNames.countedFrom) ?? 0)) {
    const row = countedValues(...columns);
    const counters = bySource.get(source) ?? emptyCounters();
    bySource.set(source, counters);
    addRow(counters, row, longValues.has(row.value));
  }
  const write = db.prepare('INSERT INTO main.counter_labeler(source, packed) VALUES (?, ?)');
  db.transaction(() => {
    db.exec('DELETE FROM main.counter_labeler');
    for (const [source, counters] of bySource) write.run(source, packCounters(counters, source, db.name));
  })();
}

/**
 * Encoding of one labeler's counters of one day as a single value, which a commit rewrites for each of its labelers.
 * All numbers are varints, in this order: the counts by verdict; the counts of the values without an entry; the number
 * of values and, for each value, the increase of its id and two counts; for each delay range with rows, the increase of
 * its index and its count. A checksum over this content and the labeler's id follows.
 */

/** Verdicts in the order in which their counts are stored. Adding a verdict requires a new schema version. */
const storedVerdicts = [
  'verified',
  'invalid',
  'unsigned',
  'unverified',
  'verified_earlier_key',
] as const satisfies readonly SignatureVerdict[];

const crcBytes = 4;

/** Packs the counters of a labeler. Throws `damaged` if a count is negative. */
export function packCounters({ verdicts, values, others, delays }: DayCounters, source: number, path: string): Buffer {
  const numbers = [...storedVerdicts.map((verdict) => verdicts.get(verdict) ?? 0), ...others, values.size];
  let before = 0;
  for (const [value, [applied, removed]] of [...values].sort(([a], [b]) => a - b)) {
    numbers.push(value - before, applied, removed);
    before = value;
  }
  before = 0;
  for (const [range, count] of [...delays].filter(([, count]) => count !== 0).sort(([a], [b]) => a - b)) {
    numbers.push(range - before, count);
    before = range;
  }
  const bytes: number[] = [];
  for (const number of numbers) {
    if (number < 0) throw damaged(path, source);
    let value = number;
    for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value & 0x7f) | 0x80);
    bytes.push(value);
  }
  const packed = Buffer.alloc(bytes.length + crcBytes);
  packed.set(bytes);
  packed.writeUInt32LE(crc32(packed.subarray(0, bytes.length), source), bytes.length);
  return packed;
}

/**
 * Unpacks the counters of a labeler that were read from the file `path`. Throws `damaged` if the checksum does not
 * match.
 */
export function unpackCounters(packed: unknown, source: number, path: string): DayCounters {
  const end = Buffer.isBuffer(packed) ? packed.length - crcBytes : -1;
  if (!Buffer.isBuffer(packed) || end < 0 || crc32(packed.subarray(0, end), source) !== packed.readUInt32LE(end)) {
    throw damaged(path, source);
  }
  const bytes: Buffer = packed;
  let at = 0;
  function next(): number {
    let value = 0;
    for (let scale = 1; at < end; scale *= 0x80) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  }
  const counters = emptyCounters();
  for (const verdict of storedVerdicts) counters.verdicts.set(verdict, next());
  counters.others[0] = next();
  counters.others[1] = next();
  let value = 0;
  for (let left = next(); left > 0 && at < end; left--) {
    value += next();
    const events: Events = [next(), next()];
    counters.values.set(value, events);
  }
  for (let range = 0; at < end; ) {
    range += next();
    counters.delays.set(range, next());
  }
  return counters;
}

function damaged(path: string, source: number): StoreError {
  return new StoreError('damaged', `${path}: the counters of labeler ${source} do not match their checksum`);
}
