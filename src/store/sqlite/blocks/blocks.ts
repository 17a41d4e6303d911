import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import { rowColumns } from '../base/row.ts';
import type { DayFile } from '../schema/day-schema.ts';
import {
  altered,
  type Cell,
  CheckedGroups,
  Checksum,
  type GroupPart,
  groupPartsOf,
  sumOf,
  sumsOfDay,
} from './group-sums.ts';

type Entry = readonly [subject: Key[0], id: number, index: number, rows: number, sum: Buffer, edge: Buffer];

const entryColumns = 'SELECT subject, id, "index", rows, sum, edge FROM block';
const atOrBefore = `${entryColumns} WHERE part = ? AND (subject, id) <= (?, ?) ORDER BY subject DESC, id DESC LIMIT 1`;
const before = `${entryColumns} WHERE part = ? AND (subject, id) < (?, ?) ORDER BY subject DESC, id DESC LIMIT 1`;
const withNext = `${entryColumns} WHERE part = ? AND (subject, id) >= (?, ?) ORDER BY subject, id LIMIT 2`;

/**
 * Finds the blocks of one part of a sealed day that cover a range of keys, and verifies the rows of each block once.
 * The position of a block is verified on every access, because a damaged block table must not hide a block.
 */
export class CheckedBlocks {
  readonly #file: DayFile;
  readonly #day: number;
  readonly #part: BlockPart;
  readonly #selectSql: string;
  /** Bit set of the blocks that were verified. */
  #compared = Buffer.alloc(0);

  constructor(file: DayFile, day: number, part: BlockPart) {
    this.#file = file;
    this.#day = day;
    this.#part = part;
    const { columns, table, key } = partSql[part];
    const from = part === 'observation' ? '(subject, id) >= (?, ?)' : 'name >= ?';
    this.#selectSql = `SELECT ${columns} FROM ${table} WHERE ${from} ORDER BY ${key} LIMIT ?`;
  }

  /** Yields every block that covers a key between `from` and `through`, both inclusive, in the given order. */
  *covering(from: Key, through: Key, order: 'oldest' | 'newest'): Generator<Block> {
    let block = this.#holding(order === 'oldest' ? from : through);
    for (;;) {
      yield block;
      if (order === 'oldest') {
        if (block.next === null || compareKeys(block.next, through) > 0) return;
        block = this.#at(block.next);
      } else {
        if (compareKeys(block.first, from) <= 0) return;
        block = this.#before(block.first);
      }
    }
  }

  /** Reads and verifies the rows of a block. Returns null without reading if the block was verified before. */
  compare<Row extends readonly Cell[]>(block: Block): Row[] | null {
    const { index } = block;
    if (((this.#compared[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0) return null;
    return this.read<Row>(block);
  }

  /** Reads and verifies the rows of a block. Throws `damaged` if they do not match the checksum. */
  read<Row extends readonly Cell[]>(block: Block): Row[] {
    const rows = this.readAgain<Row>(block);
    if (rows.length !== block.rows || !sumOf(rows).equals(block.sum)) throw this.#altered(block.index);
    this.#mark(block.index);
    return rows;
  }

  /** Reads the rows of a block without verifying them; the block must have been verified before. */
  readAgain<Row extends readonly Cell[]>(block: Block): Row[] {
    return this.#file.all<Row>(this.#selectSql, this.place(block));
  }

  /**
   * Returns an SQL table expression for the rows of one block. Its query plan is always the same; `place` returns its
   * parameters.
   */
  within(): string {
    return `(${this.#selectSql})`;
  }

  /** Returns the parameters of `within` for a block. */
  place({ first, rows }: Block): readonly Cell[] {
    return this.#part === 'observation' ? [...first, rows] : [first[0], rows];
  }

  /** Returns the block that covers a key. */
  #holding(key: Key): Block {
    const [entry] = this.#file.all<Entry>(atOrBefore, [this.#part, ...key]);
    if (!entry) throw this.#altered(null);
    const block = this.#at([entry[0], entry[1]]);
    const isCovered = compareKeys(block.first, key) <= 0 && (block.next === null || compareKeys(block.next, key) > 0);
    if (!isCovered) throw this.#altered(block.index);
    return block;
  }

  /** Returns the block that begins with a key. */
  #at(first: Key): Block {
    const [entry, after] = this.#file.all<Entry>(withNext, [this.#part, ...first]);
    if (!entry || compareKeys([entry[0], entry[1]], first) !== 0) throw this.#altered(null);
    return this.#block(entry, after ? [after[0], after[1]] : null);
  }

  /** Returns the block before the block that begins with `next`. */
  #before(next: Key): Block {
    const [entry] = this.#file.all<Entry>(before, [this.#part, ...next]);
    if (!entry) throw this.#altered(null);
    return this.#block(entry, next);
  }

  /** Decodes an entry of the block table. Throws `damaged` unless the entry describes the block before `next`. */
  #block([subject, id, index, rows, sum, edge]: Entry, next: Key | null): Block {
    const block = { part: this.#part, index, first: [subject, id], next, rows, sum } as const;
    if (!Buffer.isBuffer(edge) || !edge.equals(edgeOf(this.#day, block))) throw this.#altered(index);
    return block;
  }

  #mark(index: number): void {
    const byte = index >>> 3;
    if (byte >= this.#compared.length) {
      const grown = Buffer.alloc(2 * byte + 16);
      grown.set(this.#compared);
      this.#compared = grown;
    }
    this.#compared[byte] = (this.#compared[byte] ?? 0) | (1 << (index & 7));
  }

  #altered(index: number | null) {
    return altered(this.#file.path, `block ${String(index)} of ${this.#part}`);
  }
}

/** A part of a sealed day that does not match its checksums. */
interface ChecksumProblem {
  readonly part: BlockPart | GroupPart;
  readonly problem: string;
}

/** Key that sorts after the key of every row. */
const greatestKey: Key = [Buffer.alloc(64, 0xff), Number.MAX_SAFE_INTEGER];

/** Verifies every block and every checksum group of a sealed day, and yields the problems. */
export function* checkDay(file: DayFile, day: number): Generator<ChecksumProblem> {
  for (const part of Object.keys(partSql) as BlockPart[]) {
    const blocks = new CheckedBlocks(file, day, part);
    yield* problemsOf(part, function* () {
      for (const block of blocks.covering(smallestKey, greatestKey, 'oldest')) yield () => blocks.read(block);
    });
  }
  const groups = new CheckedGroups(file, day);
  for (const part of groupPartsOf(file)) {
    const found: ChecksumProblem[] = [];
    attempt(part, found, () => {
      for (const problem of groups.problems(part)) found.push({ part, problem });
    });
    yield* found;
  }
}

/** Runs reads and yields each failure as a problem. Stops if the next block cannot be located. */
function* problemsOf(part: ChecksumProblem['part'], reads: () => Generator<() => unknown>): Generator<ChecksumProblem> {
  const all = reads();
  for (;;) {
    const found: ChecksumProblem[] = [];
    const isLast = attempt(part, found, () => {
      const { done, value } = all.next();
      if (done) return true;
      attempt(part, found, value);
      return false;
    });
    yield* found;
    if (isLast !== false) return;
  }
}

/** Runs a read. If the read throws a store error, adds a problem to `found` and returns null. */
function attempt<T>(part: ChecksumProblem['part'], found: ChecksumProblem[], work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    found.push({ part, problem: error.message });
    return null;
  }
}

/** Tables in which a day stores each distinct text once. Each table is a separate part. */
const nameTables = ['source', 'val', 'collection'] as const;

/** Computes and stores the checksums of an otherwise complete sealed day. */
export function keepChecksums(db: Sqlite, day: number): void {
  const insertBlock = db.prepare(
    'INSERT INTO main.block(part, subject, id, "index", rows, sum, edge) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const part of [rowPart, ...nameTables] as const) {
    const { columns, table, key } = partSql[part];
    const rows = db.prepare<[], Cell[]>(`SELECT ${columns} FROM main.${table} ORDER BY ${key}`).raw();
    // Collect the blocks first: the connection cannot write while a query is running.
    const blocks = [...blocksOf(part, rows.iterate(), (row) => keyIn(part, row))];
    db.transaction((all: readonly Block[]) => {
      for (const block of all) {
        insertBlock.run(part, ...block.first, block.index, block.rows, block.sum, edgeOf(day, block));
      }
    })(blocks);
  }
  const insertSum = db.prepare('INSERT INTO main.group_sum(part, key, sum) VALUES (?, ?, ?)');
  const all = <Row>(sql: string, parameters: readonly unknown[]): Row[] =>
    db
      .prepare<unknown[], Row>(sql)
      .raw()
      .all(...parameters);
  db.transaction(() => {
    for (const sum of sumsOfDay(all, day)) insertSum.run(...sum);
  })();
}

/**
 * A block of a sealed day: adjacent rows of one part of the file, in key order. The two checksums of a block prove that
 * it contains exactly the rows from `first` up to `next`, the first key of the following block. If a damaged page makes
 * a read return other rows or another block, the checksums do not match.
 */
interface Block {
  readonly part: string;
  /** Index of the block within its part. */
  readonly index: number;
  /** Smallest key of the rows that the block covers. */
  readonly first: Key;
  /** First key of the next block, or null for the last block. */
  readonly next: Key | null;
  readonly rows: number;
  /** Checksum of the rows. */
  readonly sum: Buffer;
}

/** Key of a row. Keys sort as in SQLite: text before blobs, then by the number. */
type Key = readonly [Buffer | string, number];

/** Key that sorts before the key of every row, because SQLite sorts the empty text first. */
export const smallestKey: Key = ['', 0];

/** Returns the checksum that binds the rows of a block to the block's position within the day. */
function edgeOf(day: number, { part, index, first, next, rows, sum }: Block): Buffer {
  return sumOf([[day, part, index, ...first, ...(next ?? [null]), rows, sum]]);
}

/** Compares two keys in SQLite's order. Usable as a comparator for `Array.prototype.sort`. */
function compareKeys([a, i]: Key, [b, j]: Key): number {
  if (typeof a === 'string' && typeof b === 'string')
    return (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))) || i - j;
  if (typeof a === 'string') return -1;
  if (typeof b === 'string') return 1;
  return Buffer.compare(a, b) || i - j;
}

/** Maximum number of rows per block. */
const maxBlockRows = 64;
/** Minimum size of a full block, in bytes. No row is added to a full block. */
const maxBlockBytes = 32 * 1024;

/** Divides rows, which must be in key order, into blocks. */
function* blocksOf(
  part: string,
  rows: Iterable<readonly Cell[]>,
  keyOf: (row: readonly Cell[]) => Key,
): Generator<Block> {
  const collected = new Checksum();
  let index = 0;
  let first = smallestKey;
  let count = 0;
  for (const row of rows) {
    if (count === maxBlockRows || collected.length >= maxBlockBytes) {
      const next = keyOf(row);
      yield { part, index, first, next, rows: count, sum: collected.take() };
      index += 1;
      first = next;
      count = 0;
    }
    collected.add(row);
    count += 1;
  }
  yield { part, index, first, next: null, rows: count, sum: collected.take() };
}

/** Name of the part that contains the rows of a sealed day. */
const rowPart = 'observation';

/** Columns, table and key of each part that is divided into blocks, for use in SQL. */
const partSql = {
  observation: { columns: rowColumns, table: 'observation', key: 'subject, id' },
  source: { columns: 'name, id', table: 'source', key: 'name' },
  val: { columns: 'name, id', table: 'val', key: 'name' },
  collection: { columns: 'name, id', table: 'collection', key: 'name' },
} as const;

/** A part of a sealed day that is divided into blocks. */
type BlockPart = keyof typeof partSql;

/** Returns the key of a row in the given part. */
function keyIn(part: BlockPart, row: readonly Cell[]): Key {
  return part === rowPart ? [row[1] as Key[0], row[0] as number] : [row[0] as string, 0];
}
