import type { SignatureVerdict } from '../../../contract/vocabulary.ts';
import type { CopiedRow, DayCounts, LabelerDay, StoreContent, TimeCount } from '../../copy/parts.ts';
import { StoreError } from '../../errors.ts';
import { identityOf } from '../../label.ts';
import type { RefusalReason } from '../../port.ts';
import { dayStart } from '../../time.ts';
import { openReadonly, type Sqlite, storeError } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import {
  decodeOpenRow,
  decodeRow,
  type Intern,
  liveFlag,
  type NameOf,
  rowColumns,
  type StoredRow,
} from '../base/row.ts';
import { type DayReader, openSealed } from '../day/day-reader.ts';
import { type DayCounters, type Events, isEmpty, packCounters } from '../labeler/stored-counters.ts';
import { metaNames } from '../schema/day-schema.ts';
import type { StateChanges } from '../state/state.ts';

/** Content of the state file. Positions and refused rows are excluded, because the newest day contains them. */
type StateContent = Omit<StoreContent, 'positions' | 'refusedRows'>;

/** Writes the content of a new state file, in the caller's transaction. */
export function writeState(db: Sqlite, state: StateChanges, content: StateContent): void {
  const each = (sql: string, rows: readonly (readonly (string | number | null)[])[]): void => {
    const insert = db.prepare(sql);
    for (const row of rows) insert.run(...row);
  };
  each(
    'INSERT INTO gap(source, started, ended, reason) VALUES (?, ?, ?, ?)',
    content.gaps.map(({ source, start, end, reason }) => [source ?? '', start, end, reason]),
  );
  state.putRoster(content.roster);
  each(
    'INSERT INTO label_key(did, label_key, first_seen, last_seen) VALUES (?, ?, ?, ?)',
    content.keys.map(({ did, key, firstSeen, lastSeen }) => [did, key, firstSeen, lastSeen]),
  );
  each(
    'INSERT INTO definitions(did, seen_at, content) VALUES (?, ?, ?)',
    content.definitions.map(({ did, seenAt, content: text }) => [did, seenAt, text]),
  );
  each('INSERT INTO note(name, content) VALUES (?, ?)', content.notes);
  each('INSERT INTO daily_bytes(source, day, bytes) VALUES (?, ?, ?)', content.dailyBytes);
  each(
    'INSERT INTO directory_position(host, seq) VALUES (?, ?)',
    content.directories.map(({ host, seq }) => [host, seq]),
  );
  each(
    'INSERT INTO purge(source, requested_at, completed_at, removed, next_day) VALUES (?, ?, ?, ?, ?)',
    content.purges.map((one) => [one.source, one.requestedAt, one.completedAt, one.removed, one.nextDay]),
  );
}

/** Reads all counters of a day's file, except those of labelers without rows. */
export function readDayCounts(db: Sqlite, reader: DayReader): DayCounts {
  const times = (bucket: 'minute' | 'hour'): TimeCount[] =>
    db
      .prepare<[], TimeCount>(
        `SELECT ${bucket}, s.name, applied, removed FROM counter_${bucket} c JOIN source s ON s.id = c.source`,
      )
      .raw()
      .all();
  const refusals = db
    .prepare<[], [number, string, RefusalReason, number]>(
      'SELECT hour, s.name, reason, n FROM refusal r JOIN source s ON s.id = r.source',
    )
    .raw()
    .all();
  const from = reader.labelerCounters.from();
  return {
    ...{ minutes: times('minute'), hours: times('hour'), refusals },
    // A purge leaves counters of zero rows in an open day. A copy with them would name the labeler for as long as it
    // retains the day, because it does not record that rows of the day were removed.
    labelers: [...reader.labelerCounters.all()]
      .filter(([, counters]) => !isEmpty(counters))
      .map(([source, counters]) =>
        labelerDay(reader.nameOf('source', source), counters, (value) => reader.nameOf('val', value)),
      ),
    countedFrom: from === dayStart(reader.day) ? null : from,
  };
}

function labelerDay(
  labeler: string,
  { verdicts, values, others, delays }: DayCounters,
  textOf: (value: number) => string,
): LabelerDay {
  return {
    ...{ labeler, others, delays: [...delays], verdicts: Object.fromEntries(verdicts) },
    values: [...values].map(([value, [applied, removed]]) => [textOf(value), applied, removed] as const),
  };
}

/** Replaces the counters of an open day, in the caller's transaction. */
export function writeDayCounts(db: Sqlite, counts: DayCounts, intern: Intern): void {
  for (const bucket of ['minute', 'hour'] as const) {
    db.exec(`DELETE FROM counter_${bucket}`);
    const add = db.prepare(`INSERT INTO counter_${bucket}(${bucket}, source, applied, removed) VALUES (?, ?, ?, ?)`);
    for (const [at, source, applied, removed] of bucket === 'minute' ? counts.minutes : counts.hours) {
      if (applied + removed > 0) add.run(at, intern('source', source), applied, removed);
    }
  }
  db.exec('DELETE FROM refusal; DELETE FROM counter_labeler');
  const refuse = db.prepare('INSERT INTO refusal(hour, source, reason, n) VALUES (?, ?, ?, ?)');
  for (const [hour, source, reason, rows] of counts.refusals) refuse.run(hour, intern('source', source), reason, rows);
  const put = db.prepare('INSERT INTO counter_labeler(source, packed) VALUES (?, ?)');
  for (const labeler of counts.labelers) {
    const source = intern('source', labeler.labeler);
    put.run(source, packCounters(dayCounters(labeler, intern), source, db.name));
  }
  db.prepare('DELETE FROM meta WHERE name = ?').run(metaNames.countedFrom);
  if (counts.countedFrom === null) return;
  db.prepare('INSERT INTO meta(name, value) VALUES (?, ?)').run(metaNames.countedFrom, counts.countedFrom);
}

function dayCounters({ verdicts, values, others, delays }: LabelerDay, intern: Intern): DayCounters {
  const [applied, removed] = others;
  // Skip values with zero counts if `others` is zero. Otherwise the labeler may have reached its maximum number of
  // named values: keep the entries, so that no other value takes their place.
  const kept = values.filter(([, a, r]) => a + r > 0 || applied + removed > 0);
  return {
    verdicts: new Map(Object.entries(verdicts) as [SignatureVerdict, number][]),
    values: new Map(kept.map(([value, a, r]): [number, Events] => [intern('val', value), [a, r]])),
    others: [applied, removed],
    delays: new Map(delays),
  };
}

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
