import { hash } from 'node:crypto';
import { splitUri } from '../../src/store/label.ts';
import type { Observation } from '../../src/store/port.ts';
import { parsePostgresUrl } from '../../src/store/postgres/base/place.ts';
import { decodeRow, type RowRecord, recordColumns } from '../../src/store/postgres/base/row.ts';
import { longLimits, type Queries, Session } from '../../src/store/postgres/base/session.ts';

/** Columns that schema 3 stored as text, and those whose form has changed since. */
const columns = ['flags', 'ver', 'subject', 'rest', 'cts', 'cid', 'body'] as const;

/** Flag of schema 3 for a subject key that is a hash. */
const hashedFlag = 8;

/** Statements that restore the tables of schema 3. */
const tables = [
  'DROP INDEX observation_subject',
  'DROP FUNCTION add_counts',
  'DROP FUNCTION subject_hash',
  "UPDATE account_group SET subject = 'did:plc:' || subject WHERE strpos(subject, ':') = 0",
  'DROP FUNCTION account_key',
  'ALTER TABLE observation ALTER COLUMN cts SET NOT NULL',
  'ALTER TABLE observation RENAME COLUMN body TO sig',
  'ALTER TABLE observation ADD PRIMARY KEY (subject, at)',
  'DELETE FROM migration WHERE version > 3',
];

/** Converts a store to the form in which a program with schema 3 has written it. Returns the number of rows. */
export async function toSchema3(url: string): Promise<number> {
  const session = new Session(parsePostgresUrl(url), 'primary', 1);
  try {
    return await session.write(async (queries) => {
      const rows = await queries.rows<RowRecord>(
        `SELECT ${recordColumns} FROM observation o JOIN source s ON s.id = o.source`,
      );
      for (const row of rows) await change(queries, row);
      for (const sql of tables) await queries.run(sql);
      return rows.length;
    }, longLimits);
  } finally {
    await session.close();
  }
}

async function change(queries: Queries, row: RowRecord): Promise<void> {
  const earlier = { ...row, ...earlierColumns(decodeRow(row), row.flags) };
  const sets = columns.map((column, i) => `${column} = $${i + 2}`).join(', ');
  await queries.run(`UPDATE observation SET ${sets} WHERE at = $1`, [row.at, ...columns.map((name) => earlier[name])]);
}

function earlierColumns({ label }: Observation, flags: number) {
  const { uri, ver = null, cts, cid = null, sig = null } = label;
  const did = splitUri(uri)?.did ?? '';
  const isHashed = (flags & hashedFlag) !== 0;
  return {
    ...{ flags: flags & 127, ver, cts, cid, body: sig },
    subject: isHashed ? `sha256:${hash('sha256', did)}` : did,
    rest: isHashed ? uri : uri === did ? null : uri.slice(`at://${did}`.length),
  };
}
