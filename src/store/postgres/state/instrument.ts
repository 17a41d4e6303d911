import { bounded } from '../../common/definition-space.ts';
import { type DailyBytes, type DirectoryPosition, maxNoteLength } from '../../roster.ts';
import type { Queries } from '../base/session.ts';

/** Returns the text of a note, or null if it does not exist. */
export async function readNote(queries: Queries, name: string): Promise<string | null> {
  const [row] = await queries.rows<{ content: string }>('SELECT content FROM note WHERE name = $1', [name]);
  return row?.content ?? null;
}

/** Stores a note; deletes it if `text` is null. */
export async function putNote(queries: Queries, name: string, text: string | null): Promise<void> {
  if (text === null) {
    await queries.run('DELETE FROM note WHERE name = $1', [name]);
    return;
  }
  await queries.run(
    'INSERT INTO note(name, content) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET content = excluded.content',
    [name, bounded(text, maxNoteLength, 'note')],
  );
}

/** Returns the number of bytes that each source added on a day. */
export async function readDailyBytes(queries: Queries, day: number): Promise<DailyBytes> {
  const sql = 'SELECT source, bytes FROM daily_bytes WHERE day = $1';
  const rows = await queries.rows<{ source: string; bytes: number }>(sql, [day]);
  return { day, bytes: new Map(rows.map(({ source, bytes }) => [source, bytes])) };
}

/** Stores the number of bytes that sources added on a day, and removes the numbers of other days. */
export async function putDailyBytes(queries: Queries, { day, bytes }: DailyBytes): Promise<void> {
  await queries.run('DELETE FROM daily_bytes WHERE day <> $1', [day]);
  await queries.run(
    `INSERT INTO daily_bytes(day, source, bytes) SELECT $1, * FROM unnest($2::text[], $3::bigint[])
     ON CONFLICT (source) DO UPDATE SET bytes = excluded.bytes WHERE daily_bytes.bytes <> excluded.bytes`,
    [day, [...bytes.keys()], [...bytes.values()]],
  );
}

/** Returns the position in the operation stream of a directory, or null if no position is stored. */
export async function readDirectoryPosition(queries: Queries, host: string): Promise<number | null> {
  const [row] = await queries.rows<{ seq: number }>('SELECT seq FROM directory_position WHERE host = $1', [host]);
  return row?.seq ?? null;
}

/** Stores the position in a directory's operation stream, and removes the position of any other directory. */
export async function putDirectoryPosition(queries: Queries, { host, seq }: DirectoryPosition): Promise<void> {
  await queries.run('DELETE FROM directory_position WHERE host <> $1', [host]);
  await queries.run(
    'INSERT INTO directory_position(host, seq) VALUES ($1, $2) ON CONFLICT (host) DO UPDATE SET seq = excluded.seq',
    [host, seq],
  );
}
