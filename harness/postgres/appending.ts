import pg from 'pg';
import { type Script, startScript } from '../process/script.ts';
import { until } from '../process/until.ts';
import type { PostgresServer } from './server.ts';

/** Starts `appender.ts` on a store. */
export function startAppending(url: string, leaseMs: number): Script {
  return startScript('postgres/appender.ts', [url, String(leaseMs)]);
}

/** SQLSTATE of a statement or connection that a standby cancels because it conflicts with the replay of WAL. */
const recoveryConflict = '40001';

/**
 * Runs a statement on a server outside a transaction, and returns its rows. Repeats it on another connection while it, or
 * the start of the connection, conflicts with the replay of WAL on a standby.
 */
export async function statement(server: PostgresServer, sql: string): Promise<Record<string, unknown>[]> {
  for (;;) {
    const client = new pg.Client(server.client);
    let failure: unknown = null;
    // A standby may end the connection between two statements; only this error then states why.
    client.on('error', (error) => {
      failure ??= error;
    });
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } catch (error) {
      const reason = failure ?? error;
      if (!(reason instanceof pg.DatabaseError && reason.code === recoveryConflict)) throw error;
    } finally {
      await client.end();
    }
  }
}

/**
 * Promotes a standby. A statement that was cancelled by a conflict may already have promoted it, and PostgreSQL rejects a
 * second promotion.
 */
export async function promote(standby: PostgresServer): Promise<void> {
  await statement(standby, 'SELECT CASE WHEN pg_is_in_recovery() THEN pg_promote() END');
}

/** Resolves when a standby has replayed everything that its primary has written so far. */
export async function replayed(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const [row] = await statement(primary, 'SELECT pg_current_wal_insert_lsn()::text AS written');
  const sql = `SELECT pg_last_wal_replay_lsn() >= '${String(row?.written)}'::pg_lsn AS replayed`;
  await until('the replay', async () => (await statement(standby, sql))[0]?.replayed === true);
}

/** Pauses the replay of WAL on a standby. Resolves when the replay has stopped. */
export async function pauseReplay(standby: PostgresServer): Promise<void> {
  await statement(standby, 'SELECT pg_wal_replay_pause()');
  await until('the replay is paused', async () => {
    const [row] = await statement(standby, 'SELECT pg_get_wal_replay_pause_state() AS state');
    return row?.state === 'paused';
  });
}

/** Resumes the replay of WAL on a standby. */
export async function resumeReplay(standby: PostgresServer): Promise<void> {
  await statement(standby, 'SELECT pg_wal_replay_resume()');
}
