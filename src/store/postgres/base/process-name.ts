import { hostname } from 'node:os';

/** Maximum length of the name under which PostgreSQL lists a connection. */
const maxApplication = 63;

/** Returns the name under which this process holds a lease: host name and process id. */
export function processName(): string {
  return `${hostname()} pid ${process.pid}`;
}

/**
 * Returns the name under which PostgreSQL lists the connections of a writer or a standby. A long name is truncated at
 * the beginning, because its end distinguishes the processes of a host. `writerBackends` contains the same rule in
 * SQL.
 */
export function applicationOf(holder: string): string {
  return `almanac ${holder}`.slice(-maxApplication);
}

/**
 * SQL expression for the backends that serve the holder of the lease in the table `store`: an array of process ids as
 * text, or null if no backend serves it. The result also includes the backends of an earlier result, `$1`, until they
 * end, because a connection pooler may lend the backend of one process to another process.
 */
export const writerBackends = `(SELECT array_agg(pid)::text FROM pg_stat_activity
  WHERE datname = current_database()
  AND (application_name = right('almanac ' || store.holder, ${maxApplication}) OR pid = ANY($1::int[])))`;
