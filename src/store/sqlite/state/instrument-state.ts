import { bounded } from '../../common/bounded.ts';
import { type DailyBytes, type DirectoryPosition, maxNoteLength } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';

/** Returns a function that reads a note; it returns null if the note does not exist. */
export function noteQuery(db: Sqlite): (name: string) => string | null {
  const note = db.prepare<[string], string>('SELECT content FROM note WHERE name = ?').pluck();
  return (name) => note.get(name) ?? null;
}

/**
 * Creates the functions that query and change data that only the instrument reads, when it starts. Each change is one
 * durable commit.
 */
export function instrumentState(db: Sqlite) {
  const putNote = db.prepare(
    'INSERT INTO note(name, content) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET content = excluded.content',
  );
  const deleteNote = db.prepare('DELETE FROM note WHERE name = ?');
  const bytesOf = db.prepare<[number], { source: string; bytes: number }>(
    'SELECT source, bytes FROM daily_bytes WHERE day = ?',
  );
  const putBytes = db.prepare(
    `INSERT INTO daily_bytes(source, day, bytes) VALUES (?, ?, ?)
     ON CONFLICT(source) DO UPDATE SET day = excluded.day, bytes = excluded.bytes
     WHERE day <> excluded.day OR bytes <> excluded.bytes`,
  );
  const dropOtherDays = db.prepare('DELETE FROM daily_bytes WHERE day <> ?');
  const seqOf = db.prepare<[string], number>('SELECT seq FROM directory_position WHERE host = ?').pluck();
  const putSeq = db.prepare(
    'INSERT INTO directory_position(host, seq) VALUES (?, ?) ON CONFLICT(host) DO UPDATE SET seq = excluded.seq',
  );
  const dropOtherHosts = db.prepare('DELETE FROM directory_position WHERE host <> ?');
  return {
    putNote(name: string, text: string | null): void {
      if (text === null) deleteNote.run(name);
      else putNote.run(name, bounded(text, maxNoteLength, 'note'));
    },
    dailyBytes: (day: number): DailyBytes => ({
      day,
      bytes: new Map(bytesOf.all(day).map(({ source, bytes }) => [source, bytes])),
    }),
    putDailyBytes: db.transaction(({ day, bytes }: DailyBytes): void => {
      dropOtherDays.run(day);
      for (const [source, count] of bytes) putBytes.run(source, day, count);
    }),
    directoryPosition: (host: string): number | null => seqOf.get(host) ?? null,
    putDirectoryPosition: db.transaction(({ host, seq }: DirectoryPosition): void => {
      dropOtherHosts.run(host);
      putSeq.run(host, seq);
    }),
  };
}
