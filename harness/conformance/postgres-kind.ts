import { parsePostgresUrl } from '../../src/store/postgres/base/place.ts';
import { Session } from '../../src/store/postgres/base/session.ts';
import { openPostgresSource } from '../../src/store/postgres/copy/source.ts';
import { openPostgresTarget } from '../../src/store/postgres/copy/target.ts';
import { openPostgresReader } from '../../src/store/postgres/read/reader.ts';
import { openPostgresWriter } from '../../src/store/postgres/write/writer.ts';
import { type PgBouncer, startPgBouncer } from '../postgres/pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { noon } from './labels.ts';
import type { StoreKind } from './subject.ts';

let server: Promise<PostgresServer> | null = null;
let bouncer: Promise<PgBouncer> | null = null;
let count = 0;

/** Lease time in tests, in milliseconds. */
const leaseMs = 1_000;

/** Returns a kind of store that uses PostgreSQL. `url` returns the URL of a new schema. */
function kindAt(name: string, url: (schema: string) => Promise<string>): StoreKind {
  return {
    name,
    async place() {
      const place = parsePostgresUrl(await url(`test_${++count}`));
      return {
        write: (at, options = {}) => openPostgresWriter({ place, at, leaseMs, ...options }),
        read: () => openPostgresReader(place),
        copied: () => openPostgresSource(place, leaseMs),
        copy: (generation) => openPostgresTarget(place, generation, noon),
        async remove() {
          const session = new Session(place, 'primary', 1);
          await session.write((queries) => queries.run(`DROP SCHEMA IF EXISTS ${place.schema} CASCADE`));
          await session.close();
        },
      };
    },
  };
}

function sharedServer(): Promise<PostgresServer> {
  server ??= startPostgres();
  return server;
}

/** PostgreSQL stores, each in its own schema of a shared server. The first store starts the server. */
export const postgresKind = kindAt('postgres', async (schema) => (await sharedServer()).url(schema));

/** PostgreSQL stores that are reached through PgBouncer in transaction mode. */
export const pgBouncerKind = kindAt('postgres through PgBouncer', async (schema) => {
  bouncer ??= startPgBouncer(await sharedServer());
  return (await bouncer).url(schema);
});
