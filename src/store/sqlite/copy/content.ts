import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { movedNote } from '../../common/moved.ts';
import type { CopiedPurge, StoreContent } from '../../copy/parts.ts';
import type { Definitions, DirectoryPosition, LabelerKey } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';
import { stateQueries } from '../state/state-read.ts';
import type { StateChanges } from '../state/state-write.ts';

/** Content of the state file. Positions and refused rows are excluded, because the newest day contains them. */
export type StateContent = Omit<StoreContent, 'positions' | 'refusedRows'>;

/** Reads the content of the state file in one transaction. Omits the note that marks the store as retired. */
export function readState(db: Sqlite): StateContent {
  const all = <Row>(sql: string): Row[] => db.prepare<[], Row>(sql).all();
  const raw = <Row>(sql: string): Row[] => db.prepare<[], Row>(sql).raw().all();
  const read = db.transaction((): StateContent => {
    type Gap = readonly [source: string, started: Micros, ended: Micros, reason: GapReason];
    const gaps = raw<Gap>('SELECT source, started, ended, reason FROM gap');
    return {
      gaps: gaps.map(([source, start, end, reason]) => ({ source: source === '' ? null : source, start, end, reason })),
      roster: stateQueries(db).roster(),
      keys: all<LabelerKey>(
        'SELECT did, label_key AS key, first_seen AS firstSeen, last_seen AS lastSeen FROM label_key',
      ),
      definitions: all<Definitions>('SELECT did, seen_at AS seenAt, content FROM definitions ORDER BY id'),
      notes: raw<[string, string]>(`SELECT name, content FROM note WHERE name <> '${movedNote}'`),
      dailyBytes: raw<[string, number, number]>('SELECT source, day, bytes FROM daily_bytes'),
      directories: all<DirectoryPosition>('SELECT host, seq FROM directory_position'),
      purges: all<CopiedPurge>(
        `SELECT source, requested_at AS requestedAt, completed_at AS completedAt, removed, next_day AS nextDay
         FROM purge`,
      ),
    };
  });
  return read();
}

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
