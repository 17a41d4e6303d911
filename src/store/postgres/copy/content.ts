import { hash } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { movedNote } from '../../common/moved.ts';
import type { CopiedPurge, StoreContent } from '../../copy/parts.ts';
import type { Position } from '../../port.ts';
import type { RefusedRows } from '../../refused-rows.ts';
import type { Definitions, DirectoryPosition, LabelerKey } from '../../roster.ts';
import type { Queries } from '../base/session.ts';
import { putRoster, readRoster } from '../state/roster.ts';
import { insertAll } from './day-counts.ts';

/**
 * Reads all data that does not belong to a day, in the caller's transaction. Omits the note that marks the store as
 * retired.
 */
export async function readContent(queries: Queries): Promise<StoreContent> {
  const gaps = await queries.rows<{ source: string; started: Micros; ended: Micros; reason: GapReason }>(
    'SELECT source, started, ended, reason FROM gap',
  );
  const notes = await queries.rows<{ name: string; content: string }>(
    `SELECT name, content FROM note WHERE name <> '${movedNote}'`,
  );
  const bytes = await queries.rows<{ source: string; day: number; bytes: number }>(
    'SELECT source, day, bytes FROM daily_bytes',
  );
  return {
    positions: await queries.rows<Position>(
      'SELECT source, endpoint, value, accepted_at AS "acceptedAt" FROM position',
    ),
    refusedRows: await queries.rows<RefusedRows>('SELECT source, bucket, rows FROM refused_rows'),
    gaps: gaps.map(({ source, started, ended, reason }) => ({
      ...{ source: source === '' ? null : source, start: started, end: ended, reason },
    })),
    roster: await readRoster(queries),
    keys: await queries.rows<LabelerKey>(
      'SELECT did, label_key AS key, first_seen AS "firstSeen", last_seen AS "lastSeen" FROM label_key',
    ),
    definitions: await queries.rows<Definitions>(
      'SELECT did, seen_at AS "seenAt", content FROM definitions ORDER BY id',
    ),
    notes: notes.map(({ name, content }) => [name, content] as const),
    dailyBytes: bytes.map(({ source, day, bytes: n }) => [source, day, n] as const),
    directories: await queries.rows<DirectoryPosition>('SELECT host, seq FROM directory_position'),
    purges: await queries.rows<CopiedPurge>(
      `SELECT source, requested_at AS "requestedAt", completed_at AS "completedAt", removed, next_day AS "nextDay"
       FROM purge`,
    ),
  };
}

/** Writes all data that does not belong to a day into empty tables, in the caller's transaction. */
export async function writeContent(queries: Queries, content: StoreContent): Promise<void> {
  const { positions, refusedRows, gaps, roster, keys, definitions, notes, dailyBytes, directories, purges } = content;
  await insertAll(
    queries,
    'position',
    ['key text', 'source text', 'endpoint text', 'value text', 'accepted_at bigint'],
    positions.map(({ source, endpoint, value, acceptedAt }) => [
      ...[hash('sha256', JSON.stringify([source, endpoint]), 'base64'), source, endpoint, value, acceptedAt],
    ]),
  );
  await insertAll(
    queries,
    'refused_rows',
    ['source text', 'bucket smallint', 'rows text'],
    refusedRows.map(({ source, bucket, rows }) => [source, bucket, rows]),
  );
  await insertAll(
    queries,
    'gap',
    ['source text', 'started bigint', 'ended bigint', 'reason text'],
    gaps.map(({ source, start, end, reason }) => [source ?? '', start, end, reason]),
  );
  await putRoster(queries, roster);
  await insertAll(
    queries,
    'label_key',
    ['did text', 'label_key text', 'first_seen bigint', 'last_seen bigint'],
    keys.map(({ did, key, firstSeen, lastSeen }) => [did, key, firstSeen, lastSeen]),
  );
  // Insert definitions one by one: they are large, and their ids must follow their order.
  for (const { did, seenAt, content: text } of definitions) {
    await queries.run('INSERT INTO definitions(did, seen_at, content) VALUES ($1, $2, $3)', [did, seenAt, text]);
  }
  await insertAll(queries, 'note', ['name text', 'content text'], notes);
  await insertAll(queries, 'daily_bytes', ['source text', 'day int', 'bytes bigint'], dailyBytes);
  await insertAll(
    queries,
    'directory_position',
    ['host text', 'seq bigint'],
    directories.map(({ host, seq }) => [host, seq]),
  );
  await insertAll(
    queries,
    'purge',
    ['source text', 'requested_at bigint', 'completed_at bigint', 'removed bigint', 'next_day int'],
    purges.map((one) => [one.source, one.requestedAt, one.completedAt, one.removed, one.nextDay]),
  );
}
