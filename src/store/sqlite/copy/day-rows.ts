import type { CopiedRow } from '../../copy/parts.ts';
import { StoreError } from '../../errors.ts';
import { identityOf } from '../../identity.ts';
import { openReadonly, type Sqlite } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import { decodeOpenRow, decodeRow, liveFlag, type NameOf, type StoredRow } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { openSealed } from '../day/sealed-day.ts';
import { rowColumns } from '../schema/day-schema.ts';

/** Number of rows per chunk. */
const rowsAtOnce = 5_000;
/** Size of the page cache, in bytes. */
const cacheBytes = 8 * 1024 * 1024;

/**
 * Yields the rows of a day's file after a stamp, in stamp order and in chunks. An open day is read in short queries, so
 * that its write-ahead log can be restarted between them. A sealed day is sorted once, in a temporary file.
 */
export function* dayRows(path: string, form: DayForm, nameOf: NameOf, after: number): Generator<CopiedRow[]> {
  const db = form === 'open' ? openReadonly(path, cacheBytes) : openSealed(path, cacheBytes);
  try {
    const chunks = form === 'open' ? openChunks(db, after) : sealedChunks(db, after);
    for (const rows of chunks) yield rows.map((row) => copiedRow(row, form, nameOf, path));
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}

function* openChunks(db: Sqlite, after: number): Generator<StoredRow[]> {
  const some = db
    .prepare<[number], StoredRow>(
      `SELECT ${rowColumns}, identity FROM observation WHERE id > ? ORDER BY id LIMIT ${rowsAtOnce}`,
    )
    .raw();
  for (let last = after; ; ) {
    const rows = some.all(last);
    if (rows.length > 0) yield rows;
    if (rows.length < rowsAtOnce) return;
    last = rows.at(-1)?.[0] ?? last;
  }
}

function* sealedChunks(db: Sqlite, after: number): Generator<StoredRow[]> {
  // Sort in a temporary file, because the rows of a day may not fit in memory.
  db.pragma('temp_store = 1');
  const all = db.prepare<[number], StoredRow>(`SELECT ${rowColumns} FROM observation WHERE id > ? ORDER BY id`).raw();
  let chunk: StoredRow[] = [];
  for (const row of all.iterate(after)) {
    chunk.push(row);
    if (chunk.length < rowsAtOnce) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

function copiedRow(row: StoredRow, form: DayForm, nameOf: NameOf, path: string): CopiedRow {
  const { label, signature } = decoded(row, form, nameOf, path);
  const identity: unknown = form === 'open' ? row.at(-1) : identityOf(label);
  return {
    at: row[0],
    observation: { label, signature, live: (row[6] & liveFlag) !== 0 },
    identity: Buffer.isBuffer(identity) ? identity : Buffer.alloc(0),
  };
}

function decoded(row: StoredRow, form: DayForm, nameOf: NameOf, path: string) {
  try {
    return form === 'open' ? decodeOpenRow(row, nameOf, path) : decodeRow(row, nameOf);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    // Report damage, because this program never writes a time or text that cannot be decoded.
    throw new StoreError('damaged', `${path}: a row cannot be decoded`, { cause: error });
  }
}
