import { randomBytes } from 'node:crypto';
import { assertNotMoved, movedNote, unfinishedCopy } from '../../common/moved.ts';
import { StoreError } from '../../errors.ts';
import { longLimits, type Queries, type Session } from '../base/session.ts';
import { codeOf } from '../base/sqlstates.ts';
import { migrations } from './migrations.ts';

const versionTable = 'CREATE TABLE IF NOT EXISTS migration (version integer PRIMARY KEY, applied_at bigint NOT NULL)';

/** Options for a migration. */
interface MigrateOptions {
  /** Role that will own the tables; absent for the role of the session. */
  readonly owner?: string;
  /** Statements of each schema version; absent for the versions of this program. */
  readonly versions?: readonly string[];
}

/**
 * Creates the schema, or migrates it to the version of this program. An advisory lock serializes processes that start
 * at the same time. Throws `not_a_store` if the schema does not exist and the role may not create it, and
 * `schema_newer` if this program does not know the version of the store. For an existing store, the caller must hold
 * the lease.
 */
export async function migrate(session: Session, at: number, options: MigrateOptions = {}): Promise<void> {
  const { owner, versions = migrations } = options;
  const { schema } = session.place;
  try {
    await session.write(async (queries) => {
      await queries.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`almanac store ${schema}`]);
      if (owner !== undefined) await queries.run(`SET LOCAL ROLE ${owner}`);
      if (!(await hasSchema(queries, schema))) await queries.run(`CREATE SCHEMA ${schema}`);
      if (!(await hasTable(queries, schema))) await queries.run(versionTable);
      const version = await versionIn(queries);
      assertKnown(version, session.name, versions);
      for (const [i, sql] of versions.slice(version).entries()) {
        for (const statement of statementsOf(sql.replaceAll(':seed', randomSeed()))) await queries.run(statement);
        await queries.run('INSERT INTO migration(version, applied_at) VALUES ($1, $2)', [version + i + 1, at]);
      }
      // An index of all rows may take minutes.
    }, longLimits);
  } catch (error) {
    // 42501: the role has no privilege to create the schema.
    if (!(error instanceof StoreError) || codeOf(error.cause) !== '42501') throw error;
    throw new StoreError('not_a_store', `${session.name} contains no store; create it with almanac store init`);
  }
}

/**
 * Returns the schema version of the store, or 0 if there is no store. Throws `schema_newer` if this program does not
 * know the version, and `misconfigured` if a pooler distributes the statements of a transaction.
 */
export async function storeVersion(session: Session, versions = migrations): Promise<number> {
  const { schema } = session.place;
  const version = await session.read(async (queries) => {
    await assertOneServer(queries, session);
    return (await hasTable(queries, schema)) ? versionIn(queries) : 0;
  });
  assertKnown(version, session.name, versions);
  return version;
}

/**
 * Throws `misconfigured` unless this statement runs in the transaction in which the session has set the search path. A
 * pooler with load balancing may send it to another server.
 */
async function assertOneServer(queries: Queries, { place, name }: Session): Promise<void> {
  const [row] = await queries.rows<{ path: string }>("SELECT current_setting('search_path') AS path");
  if (row?.path === place.schema) return;
  throw new StoreError(
    'misconfigured',
    `${name}: a pooler sends the statements of one transaction to different servers; switch its load balancing off (pgpool: load_balance_mode = off), or name the servers themselves in the URL`,
  );
}

/** Throws unless the schema contains a complete store with a schema version that this program can read. */
export async function assertReadable(session: Session): Promise<void> {
  const version = await storeVersion(session);
  if (version === 0) throw new StoreError('not_a_store', `${session.name} contains no store`);
  if (version < migrations.length) {
    throw new StoreError(
      'not_a_store',
      `the store in ${session.name} was written by an earlier version; start almanac labels, which migrates it`,
    );
  }
  await session.read((queries) => assertFinished(queries, session.name));
}

function assertKnown(version: number, name: string, versions: readonly string[]): void {
  if (version <= versions.length) return;
  throw new StoreError(
    'schema_newer',
    `${name} has schema version ${version}, but this program supports at most ${versions.length}`,
  );
}

async function hasSchema(queries: Queries, schema: string): Promise<boolean> {
  return (await queries.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])).length > 0;
}

async function hasTable(queries: Queries, schema: string): Promise<boolean> {
  const sql = "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'migration'";
  return (await queries.rows(sql, [schema])).length > 0;
}

async function versionIn(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ version: number }>('SELECT coalesce(max(version), 0) AS version FROM migration');
  return row?.version ?? 0;
}

/** Returns the statements of a version, without comments. A body between `$$` may contain semicolons. */
function statementsOf(sql: string): string[] {
  return sql
    .replace(/^ *--.*$/gm, '')
    .split(/;(?=(?:[^$]*\$\$[^$]*\$\$)*[^$]*$)/)
    .filter((statement) => statement.trim() !== '');
}

/** Returns a random 64-bit number as SQL. */
function randomSeed(): string {
  return `'${randomBytes(8).readBigInt64BE()}'::bigint`;
}

/**
 * Table that marks an unfinished copy. The copy creates it, and drops it in the commit that makes the copy a store.
 * Until then the table `store` has no row.
 */
export const copyTable = 'store_copy';
/** Table with the copy progress of each day. */
export const copyDayTable = 'store_copy_day';

/** Returns true if the schema contains an unfinished copy. */
export async function isUnfinishedCopy(queries: Queries): Promise<boolean> {
  const [found] = await queries.rows<{ found: boolean }>(`SELECT to_regclass('${copyTable}') IS NOT NULL AS found`);
  return found?.found === true;
}

/** Throws `unfinished_copy` if the schema contains an unfinished copy. */
export async function assertFinished(queries: Queries, name: string): Promise<void> {
  if (await isUnfinishedCopy(queries)) throw unfinishedCopy(name);
}

/** Throws `moved` if the store was retired because a copy has replaced it. */
export async function assertNotRetired(queries: Queries): Promise<void> {
  const [row] = await queries.rows<{ content: string }>('SELECT content FROM note WHERE name = $1', [movedNote]);
  assertNotMoved(row?.content ?? null);
}
