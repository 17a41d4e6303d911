import { hostname } from 'node:os';

/** Maximum length of the name under which PostgreSQL lists a connection. */
const maxApplication = 63;

/** Returns the name under which this process holds a lease: host name and process id. */
export function processName(): string {
  return `${hostname()} pid ${process.pid}`;
}

/**
 * Returns the name under which PostgreSQL lists the connections of a process that writes, or is about to. A long name
 * loses its beginning, because its end distinguishes the processes of a host. `writerBackends` contains the same in SQL.
 */
export function applicationOf(holder: string): string {
  return `almanac ${holder}`.slice(-maxApplication);
}

/**
 * SQL expression for the backends that serve the process that holds the lease in the table `store`, as the text of an
 * array, or null if there are none. `$1` is an earlier result: its backends count until they end, because a connection
 * pooler lends the backend of one process to another.
 */
export const writerBackends = `(SELECT array_agg(pid)::text FROM pg_stat_activity
  WHERE datname = current_database()
  AND (application_name = right('almanac ' || store.holder, ${maxApplication}) OR pid = ANY($1::int[])))`;
