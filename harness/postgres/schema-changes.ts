import pg from 'pg';
import type { PostgresServer } from './server.ts';

/** A loop that changes the schema of a server and vacuums it. */
interface SchemaChanges {
  /** Ends the loop. Resolves with the number of rounds. Rejects if a statement failed. */
  stop(): Promise<number>;
}

/**
 * Statements of one round. They replace tables, indexes and functions, and remove the rows of the replaced ones from the
 * system catalogs. A standby that replays them cancels each statement whose snapshot or locks conflict.
 */
const round: readonly string[] = [
  'CREATE TABLE changing(id integer PRIMARY KEY, content text)',
  'INSERT INTO changing SELECT n, repeat(n::text, 9) FROM generate_series(1, 50) n',
  'ALTER TABLE changing ADD COLUMN added integer DEFAULT 1',
  'CREATE FUNCTION changed() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
  'DELETE FROM changing',
  'VACUUM changing',
  'DROP FUNCTION changed()',
  'DROP TABLE changing',
  'VACUUM pg_class',
  'VACUUM pg_attribute',
  'VACUUM pg_type',
  'VACUUM pg_proc',
  'VACUUM FULL pg_proc',
  'VACUUM FULL pg_namespace',
  'VACUUM FULL pg_database',
  'VACUUM FULL pg_authid',
];

/** Changes a schema of a server again and again until it is stopped. */
export async function startSchemaChanges({ client: at }: PostgresServer, schema: string): Promise<SchemaChanges> {
  const client = new pg.Client(at);
  await client.connect();
  await client.query(`SET search_path TO ${schema}`);
  let isStopped = false;
  const ended = (async () => {
    try {
      for (let rounds = 0; ; rounds++) {
        if (isStopped) return rounds;
        for (const sql of round) await client.query(sql);
      }
    } finally {
      await client.end();
    }
  })();
  // The caller receives the error from `stop`.
  ended.catch(() => undefined);
  return {
    stop: () => {
      isStopped = true;
      return ended;
    },
  };
}
