import { dayStart, minute } from '../../time.ts';
import { type Faults, openWritable, pageBytes, type Sqlite, setPragma, storeError } from '../base/connection.ts';
import { removalFlag, type SubjectKey, subjectName } from '../base/row.ts';
import { labelerCounterSubtraction } from '../labeler/stored-counters.ts';
import { aboutSpaceSql, assertLogRoom, metaNames, targetSql } from '../schema/day-schema.ts';

/**
 * Maximum number of minutes with rows of the source that are read per commit. Reading a minute scans the rows of all
 * sources.
 */
const minutesAtOnce = 30;
/** Number of minutes per day. */
const perDay = 1_440;
const cacheBytes = 8 * 1024 * 1024;
/**
 * Removes a source's rows from an open day over a separate connection. The source's name, and values without other
 * rows, stay in the file until the day is sealed, because a reader may have cached their numeric ids.
 */
export class OpenDayPurge {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #day: number;
  readonly #options: OpenDayOptions;
  /** Numeric id of the source in this file, or undefined if the file does not contain the source. */
  readonly #source: number | undefined;
  readonly #removeRows: (rows: readonly RemovedRow[]) => void;
  /** Next minute of the day to process. */
  #minute = 0;
  /** First stamp in this minute that is not processed. */
  #from = 0;

  constructor(path: string, day: number, source: string, options: OpenDayOptions) {
    this.#path = path;
    this.#day = day;
    this.#options = options;
    this.#db = openWritable(path, cacheBytes, options.durable);
    try {
      setPragma(this.#db, 'secure_delete', 1);
      this.#source = this.#db.prepare<[string], number>('SELECT id FROM source WHERE name = ?').pluck().get(source);
      this.#removeRows = rowRemoval(this.#db, options.faults);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Returns true if the file contains rows or refusals of the purged source. */
  holdsAny(): boolean {
    if (this.#source === undefined) return false;
    const any = this.#db
      .prepare<[number, number], 1>(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM counter_hour WHERE source = ?)
         OR EXISTS (SELECT 1 FROM refusal WHERE source = ?)`,
      )
      .pluck();
    return any.get(this.#source, this.#source) !== undefined;
  }

  /** Removes the next rows in one durable commit. Returns their identities, or an empty list if no rows remain. */
  removeSome(): readonly Buffer[] {
    const rows = this.#nextRows();
    if (rows.length === 0) return [];
    changeOpenDay(this.#db, this.#path, this.#options, () => this.#removeRows(rows));
    return rows.map(({ identity }) => identity);
  }

  /** Removes the refusals of the source. */
  removeRest(): void {
    const refusals = this.#db.prepare('DELETE FROM refusal WHERE source = ?');
    changeOpenDay(this.#db, this.#path, this.#options, () => refusals.run(this.#source ?? null));
  }

  close(): void {
    this.#db.close();
  }

  /**
   * Returns the next rows of the source in order of acceptance. The minute counters show which minutes have such
   * rows.
   */
  #nextRows(): RemovedRow[] {
    const counted = this.#db
      .prepare<[number, number], 1>('SELECT 1 FROM counter_minute WHERE minute = ? AND source = ?')
      .pluck();
    const read = this.#db.prepare<[number, number, number, number], RemovedRow>(
      `SELECT ${removedColumns} FROM observation WHERE id >= ? AND id < ? AND source = ? ORDER BY id LIMIT ?`,
    );
    const rows: RemovedRow[] = [];
    const enough = (looked: number): boolean =>
      rows.length >= rowsAtOnce || (looked >= minutesAtOnce && rows.length > 0);
    for (let looked = 0; this.#minute < perDay && !enough(looked); ) {
      const at = this.#day * perDay + this.#minute;
      const left = rowsAtOnce - rows.length;
      let found: RemovedRow[] = [];
      if (counted.get(at, this.#source ?? -1) !== undefined) {
        looked += 1;
        found = read.all(Math.max(at * minute, this.#from), (at + 1) * minute, this.#source ?? -1, left);
        rows.push(...found);
      }
      if (found.length === left) this.#from = (rows.at(-1)?.id ?? 0) + 1;
      else this.#minute += 1;
    }
    return rows;
  }
}

/** Maximum number of rows that are read per turn of the event loop. */
const readAtOnce = 20_000;

/** Removes the rows about spaces from an open day over a separate connection. */
export class OpenDaySpaces {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #options: OpenDayOptions;
  readonly #removeRows: (rows: readonly RemovedRow[]) => void;
  /** First stamp that was not read yet. */
  #from: number;

  constructor(path: string, day: number, options: OpenDayOptions) {
    this.#path = path;
    this.#options = options;
    this.#from = dayStart(day);
    this.#db = openWritable(path, cacheBytes, options.durable);
    try {
      setPragma(this.#db, 'secure_delete', 1);
      this.#removeRows = rowRemoval(this.#db, options.faults);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Returns the number of rows that were ever removed from the day. */
  purged(): number {
    return (
      this.#db.prepare<[string], number>('SELECT value FROM meta WHERE name = ?').pluck().get(metaNames.purged) ?? 0
    );
  }

  /** Reads the next rows and returns the rows about spaces, or null after the last row of the day. */
  next(): readonly RemovedRow[] | null {
    const last = this.#db
      .prepare<[number, number], number | null>(
        'SELECT max(id) FROM (SELECT id FROM observation WHERE id >= ? ORDER BY id LIMIT ?)',
      )
      .pluck()
      .get(this.#from, readAtOnce);
    if (last === null || last === undefined) return null;
    const found = this.#db
      .prepare<[number, number, number], RemovedRow>(
        `SELECT ${removedColumns} FROM observation WHERE id >= ? AND id <= ? AND ${aboutSpaceSql('main')}
         ORDER BY id LIMIT ?`,
      )
      .all(this.#from, last, rowsAtOnce);
    this.#from = (found.length === rowsAtOnce ? (found.at(-1)?.id ?? last) : last) + 1;
    return found;
  }

  /** Removes rows in one durable commit. */
  remove(rows: readonly RemovedRow[]): void {
    changeOpenDay(this.#db, this.#path, this.#options, () => this.#removeRows(rows));
  }

  close(): void {
    this.#db.close();
  }
}

/** Maximum number of rows removed per commit. The writes of such a commit fit into the smallest possible log limit. */
const rowsAtOnce = 500;
/**
 * Maximum number of bytes that a commit writes. Each row changes one page each of the table, the index, the stored
 * counts and the labeler counters; the rest is a margin for other counters.
 */
const maxCommitBytes = rowsAtOnce * 6 * (pageBytes + 24) + 3 * 1024 * 1024;

/** Options for the writer of an open day that also apply to the removal of its rows. */
export interface OpenDayOptions {
  readonly maxLogBytes: number;
  readonly durable: boolean;
  readonly faults: Faults | undefined;
}

/** Changes an open day in one durable commit. Throws `wal_full` if the log could exceed its limit. */
function changeOpenDay(db: Sqlite, path: string, { maxLogBytes }: OpenDayOptions, work: () => void): void {
  assertLogRoom(db, path, maxCommitBytes, maxLogBytes);
  try {
    db.transaction(work).immediate();
  } catch (error) {
    throw storeError(error, path);
  }
}

/** A row that is removed from an open day. */
interface RemovedRow {
  readonly id: number;
  readonly subject: SubjectKey;
  readonly source: number;
  readonly val: number;
  /** Target of the row, as a value of `targetSql`. */
  readonly target: number;
  readonly identity: Buffer;
  readonly flags: number;
  readonly cts: number | null;
  readonly ctsText: string | null;
}

/** Columns of a removed row, in SQL. */
const removedColumns = `id, subject, source, val, ${targetSql} AS target, identity, flags, cts, cts_text AS ctsText`;

/**
 * Returns a function that removes rows of an open day and subtracts them from all counters, in the caller's
 * transaction.
 */
function rowRemoval(db: Sqlite, faults: Faults | undefined): (rows: readonly RemovedRow[]) => void {
  const remove = db.prepare<[number]>('DELETE FROM observation WHERE id = ?');
  const counters = (['minute', 'hour'] as const).map((bucket) => ({
    length: bucket === 'minute' ? minute : 60 * minute,
    lower: db.prepare(
      `UPDATE counter_${bucket} SET applied = applied - ?, removed = removed - ? WHERE ${bucket} = ? AND source = ?`,
    ),
    drop: db.prepare(
      `DELETE FROM counter_${bucket} WHERE ${bucket} = ? AND source = ? AND applied = 0 AND removed = 0`,
    ),
  }));
  const subtract = hotCountSubtraction(db);
  const subtractFromLabeler = labelerCounterSubtraction(db);
  const count = db.prepare(
    'INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
  );
  return (rows) => {
    for (const { id } of rows) remove.run(id);
    for (const { length, lower, drop } of counters) {
      for (const group of groupsOf(rows, ({ id, source }) => `${Math.floor(id / length)} ${source}`)) {
        const { first, applied, removed } = group;
        const bucket = Math.floor(first.id / length);
        lower.run(applied, removed, bucket, first.source);
        drop.run(bucket, first.source);
      }
    }
    for (const { first, applied, removed } of groupsOf(rows, groupName)) subtract(first, applied, removed);
    for (const [source, of] of Map.groupBy(rows, ({ source }) => source)) subtractFromLabeler(source, of);
    count.run(metaNames.purged, rows.length);
    faults?.('purge.removed');
  };
}

function groupName({ subject, source, val, target }: RemovedRow): string {
  return `${subjectName(subject)} ${source} ${val} ${target}`;
}

/** Groups rows by key. Returns the first row of each group and its numbers of applications and removals. */
function groupsOf(rows: readonly RemovedRow[], keyOf: (row: RemovedRow) => string) {
  return [...Map.groupBy(rows, keyOf).values()].flatMap((group) => {
    const [first] = group;
    const removed = group.filter(({ flags }) => (flags & removalFlag) !== 0).length;
    return first ? [{ first, applied: group.length - removed, removed }] : [];
  });
}

/**
 * Returns a function that subtracts removed rows from the stored counts of an open day, in the caller's transaction.
 * The function has no effect on a file of an earlier version, which stores no counts.
 */
function hotCountSubtraction(
  db: Sqlite,
): (group: Pick<RemovedRow, 'subject' | 'source' | 'val' | 'target'>, applied: number, removed: number) => void {
  const isStored = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'busy'").get() !== undefined;
  if (!isStored) return () => undefined;
  const group = 'subject = ? AND source = ? AND val = ? AND target = ?';
  const subtract = db.prepare(`UPDATE busy SET applied = applied - ?, removed = removed - ? WHERE ${group}`);
  const dropEmpty = db.prepare(`DELETE FROM busy WHERE ${group} AND applied = 0 AND removed = 0`);
  return ({ subject, source, val, target }, applied, removed) => {
    subtract.run(applied, removed, subject, source, val, target);
    dropEmpty.run(subject, source, val, target);
  };
}
