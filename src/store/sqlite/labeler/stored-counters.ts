import { parseInstant } from '../../../contract/timestamp.ts';
import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import { delayRangeOf, maxCountedValueBytes, maxCountedValues } from '../../counts.ts';
import { dayStart } from '../../time.ts';
import { type Sqlite, schemaVersion } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import { liveFlag, type NameOf, removalFlag, type StoredRow, verdictIn } from '../base/row.ts';
import type { CheckedGroups } from '../blocks/group-sums.ts';
import { type DayFile, labelersCountedFrom, metaNames } from '../schema/day-schema.ts';
import { type DayCounters, type Events, emptyCounters, isEmpty, packCounters, unpackCounters } from './day-counters.ts';

/** Properties of a row that are counted. */
interface CountedRow {
  readonly value: number;
  readonly isRemoval: boolean;
  readonly verdict: SignatureVerdict;
  /** Index of the row's delay range, or null if the row is not live or its `cts` is not a valid time. */
  readonly delay: number | null;
}

/** Columns that `countedRow` requires, for use in SQL. */
const countedColumns = 'id, val, flags, cts, cts_text';

/** Returns the counted properties of a row, given as the columns in `countedColumns`. */
function countedRow(id: number, value: number, flags: number, cts: number | null, text: string | null): CountedRow {
  return {
    value,
    isRemoval: (flags & removalFlag) !== 0,
    verdict: verdictIn(flags),
    delay: (flags & liveFlag) === 0 ? null : delayRange(id, cts, text),
  };
}

/** Returns the counted properties of a stored row. */
function countedStoredRow([id, , , value, , , flags, , cts, text]: StoredRow): CountedRow {
  return countedRow(id, value, flags, cts, text);
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

/** Compares the stored counters of a day's labelers with the rows of the day. */
export class LabelerCounterCheck {
  readonly #from: number;
  readonly #expected = new Map<number, DayCounters>();

  /** `from` is the stamp from which the stored counters include rows. */
  constructor(from: number) {
    this.#from = from;
  }

  /** Adds a row of the day. Rows may be added in any order. */
  add(stored: StoredRow): void {
    const [id, , source] = stored;
    if (id < this.#from) return;
    const row = countedStoredRow(stored);
    const { verdicts, values, delays } = this.#of(source);
    verdicts.set(row.verdict, (verdicts.get(row.verdict) ?? 0) + 1);
    const events: Events = values.get(row.value) ?? [0, 0];
    events[row.isRemoval ? 1 : 0] += 1;
    values.set(row.value, events);
    if (row.delay !== null) delays.set(row.delay, (delays.get(row.delay) ?? 0) + 1);
  }

  /** Yields the differences between the stored counters and the rows. */
  *problems(stored: Iterable<readonly [number, DayCounters]>, nameOf: NameOf): Generator<string> {
    const left = new Map(this.#expected);
    for (const [source, counters] of stored) {
      const expected = left.get(source) ?? emptyCounters();
      left.delete(source);
      const labeler = nameOf('source', source);
      for (const what of differences(counters, expected, nameOf)) yield `the counter of ${labeler} for ${what}`;
    }
    for (const source of left.keys()) yield `${nameOf('source', source)} has rows but no counters`;
  }

  #of(source: number): DayCounters {
    const counters = this.#expected.get(source) ?? emptyCounters();
    this.#expected.set(source, counters);
    return counters;
  }
}

/** Formats the counts of a counter. */
function described([applied, removed]: Events): string {
  return `${applied} applied and ${removed} removed`;
}

function* differences(stored: DayCounters, rows: DayCounters, nameOf: NameOf): Generator<string> {
  for (const verdict of signatureVerdicts) {
    const [has, expected] = [stored.verdicts.get(verdict) ?? 0, rows.verdicts.get(verdict) ?? 0];
    if (has !== expected) yield `${verdict} signatures has ${has}, but the rows have ${expected}`;
  }
  const others: Events = [0, 0];
  for (const [value, [applied, removed]] of rows.values) {
    if (stored.values.has(value)) continue;
    others[0] += applied;
    others[1] += removed;
  }
  if (!same(stored.others, others))
    yield `other values has ${described(stored.others)}, but the rows have ${described(others)}`;
  for (const [value, events] of stored.values) {
    const expected: Events = rows.values.get(value) ?? [0, 0];
    if (!same(events, expected)) {
      yield `${nameOf('val', value)} has ${described(events)}, but the rows have ${described(expected)}`;
    }
  }
  for (const range of new Set([...stored.delays.keys(), ...rows.delays.keys()])) {
    const [has, expected] = [stored.delays.get(range) ?? 0, rows.delays.get(range) ?? 0];
    if (has !== expected) yield `the delay range ${range} has ${has}, but the rows have ${expected}`;
  }
}

function same([a, b]: Events, [c, d]: Events): boolean {
  return a === c && b === d;
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
          if (row) addRow(counted, countedStoredRow(row), isLongValue(textOf(at)));
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
        changeBy(kept, countedRow(id, val, flags, cts, ctsText), -1);
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
    .prepare<[number], [number, ...Parameters<typeof countedRow>]>(
      `SELECT source, ${countedColumns} FROM main.observation WHERE id >= ? ORDER BY id`,
    )
    .raw();
  const bySource = new Map<number, DayCounters>();
  for (const [source, ...columns] of read.iterate(from.get(metaNames.countedFrom) ?? 0)) {
    const row = countedRow(...columns);
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
