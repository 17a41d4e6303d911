import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Micros } from '../../src/contract/timestamp.ts';
import type { CopySource, CopyTarget } from '../../src/store/copy/parts.ts';
import type { Batch, Observation, StoreReader, StoreWriter } from '../../src/store/port.ts';
import { parsePostgresUrl } from '../../src/store/postgres/base/place.ts';
import { Session } from '../../src/store/postgres/base/session.ts';
import { openPostgresSource } from '../../src/store/postgres/copy/source.ts';
import { openPostgresTarget } from '../../src/store/postgres/copy/target.ts';
import { openPostgresReader } from '../../src/store/postgres/read/reader.ts';
import { openPostgresWriter } from '../../src/store/postgres/write/writer.ts';
import { openSqliteSource } from '../../src/store/sqlite/copy/source.ts';
import { openSqliteTarget } from '../../src/store/sqlite/copy/target.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, type Interval, micros } from '../../src/store/time.ts';
import { type PgBouncer, startPgBouncer } from '../postgres/pgbouncer.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../postgres/server.ts';
import { lacks } from '../process/tools.ts';
import { labelNumber, noon, observationOf } from './labels.ts';

/** A kind of store for the conformance suite, which every kind must pass. */
export interface StoreKind {
  readonly name: string;
  /** Creates an empty location for one store; `remove` frees it. */
  place(): Promise<StorePlace>;
}

/** Location of one store. The store can be opened repeatedly for writing, and concurrently for reading. */
export interface StorePlace {
  write(at: Micros, options?: { windowDays?: number }): Promise<StoreWriter>;
  read(): Promise<StoreReader>;
  /** Opens the store as the source of a copy. */
  copied(): Promise<CopySource>;
  /** Opens the empty place as a copy of a generation, or continues an existing copy. */
  copy(generation: string): Promise<CopyTarget>;
  remove(): Promise<void>;
}

/** SQLite stores in temporary directories. */
export const sqliteKind: StoreKind = {
  name: 'sqlite',
  async place() {
    const folder = await mkdtemp(join(tmpdir(), 'almanac-store-'));
    return {
      write: (at, options = {}) => Promise.resolve().then(() => openSqliteWriter({ folder, at, ...options })),
      read: () => Promise.resolve().then(() => openSqliteReader(folder)),
      copied: () => Promise.resolve().then(() => openSqliteSource(folder)),
      copy: (generation) => Promise.resolve().then(() => openSqliteTarget(folder, generation)),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

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

/**
 * All implementations of the store port that can run on this machine. The conformance suites run against each of them.
 */
export const kinds: readonly StoreKind[] = [
  sqliteKind,
  ...(hasPostgres() ? [postgresKind] : []),
  ...(hasPostgres() && !lacks('pgbouncer') ? [pgBouncerKind] : []),
];

/** A store that is created for each test. */
export interface Subject {
  readonly place: StorePlace;
  readonly store: StoreWriter;
  /** Closes the store and reopens it. */
  reopen(at?: Micros, options?: { windowDays?: number }): Promise<void>;
}

/** Creates a store before each test and removes it afterwards. */
export function useStore(kind: StoreKind): Subject {
  let place: StorePlace;
  let store: StoreWriter;
  beforeEach(async () => {
    place = await kind.place();
    store = await place.write(noon);
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });
  return {
    get place() {
      return place;
    },
    get store() {
      return store;
    },
    async reopen(at = noon, options = {}) {
      await store.close();
      store = await place.write(at, options);
    },
  };
}

/** Returns the instant `more` microseconds after `at`. */
export function later(at: number, more: number): Micros {
  return micros(at + more);
}

/** Returns the 24-hour interval that starts at `at`. */
export function around(at: number): Interval {
  return { start: micros(at), end: micros(at + day) };
}

/** Returns the ISO time that is a number of milliseconds after noon, for use as `cts`. */
export function noonText(milliseconds: number): string {
  return new Date(noon / 1000 + milliseconds).toISOString();
}

/** Returns a batch of numbered labels, accepted at `at`. */
export function batch(at: Micros, numbers: readonly number[]): Batch {
  return { at, observations: numbers.map((n) => observationOf(labelNumber(n))), refusals: [], positions: [] };
}

/** Collects all rows of a sequence of chunks. */
export async function collect(chunks: AsyncIterable<readonly Observation[]>): Promise<Observation[]> {
  const rows: Observation[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}

/** Returns the problems that `verify` reports for all days. */
export async function problems(store: StoreReader): Promise<string[]> {
  const found: string[] = [];
  for await (const report of store.verify()) found.push(...report.problems.map((text) => `${report.day}: ${text}`));
  return found;
}
