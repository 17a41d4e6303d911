import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { OperatorError } from '../../../ops/errors.ts';
import { StoreError, unfinishedCopy } from '../../errors.ts';
import { dayName } from '../../time.ts';
import type { PostgresPlace } from '../base/place.ts';
import { longLimits, type Queries, Session } from '../base/session.ts';
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
      if (owner !== undefined) await queries.run(`SET LOCAL ROLE ${pg.escapeIdentifier(owner)}`);
      if (!(await hasSchema(queries, schema))) await queries.run(`CREATE SCHEMA ${pg.escapeIdentifier(schema)}`);
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
  const version = await session.read(
    async (queries) => {
      await assertOneServer(queries, session);
      return (await hasTable(queries, schema)) ? versionIn(queries) : 0;
    },
    { isUrgent: true },
  );
  assertKnown(version, session.name, versions);
  return version;
}

/**
 * Throws `misconfigured` unless this statement runs in the transaction in which the session has set the search path. A
 * pooler with load balancing may send it to another server.
 */
async function assertOneServer(queries: Queries, { place, name }: Session): Promise<void> {
  const sql = "SELECT current_setting('search_path') = quote_ident($1) AS same";
  const [row] = await queries.rows<{ same: boolean }>(sql, [place.schema]);
  if (row?.same === true) return;
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

/** Returns true if the schema contains an unfinished copy. */
export async function isUnfinishedCopy(queries: Queries): Promise<boolean> {
  const [found] = await queries.rows<{ found: boolean }>(`SELECT to_regclass('${copyTable}') IS NOT NULL AS found`);
  return found?.found === true;
}

/** Throws `unfinished_copy` if the schema contains an unfinished copy. */
export async function assertFinished(queries: Queries, name: string): Promise<void> {
  if (await isUnfinishedCopy(queries)) throw unfinishedCopy(name);
}

/** Names of the roles of a store. */
interface StoreRoles {
  /** Role of the label instrument; owns the schema and its tables. */
  readonly writer: string;
  /** Read-only role of the account surface and of the commands that only read. */
  readonly reader: string;
}

const rolePattern = /^[a-z_][a-z0-9_]{0,62}$/;
/** Names of the tables that the migrations create. */
const tableNames = migrations.flatMap((sql) => [...sql.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name = '']) => name));
/** Maximum time of a reader's statement, in milliseconds. A transaction may set a lower limit. */
const readerStatementMs = 60_000;

/**
 * Creates the schema of a store with its tables, and the roles with the privileges that they need. The role in the URL
 * must be a superuser, or must be allowed to create roles and schemas. Idempotent. Sets no passwords.
 */
export async function initializeStore(place: PostgresPlace, roles: StoreRoles, at: number): Promise<void> {
  for (const role of [roles.writer, roles.reader]) {
    if (!rolePattern.test(role)) throw new OperatorError(`${role} is not a valid role name: use a-z, 0-9 and _`);
  }
  if (roles.writer === roles.reader) throw new OperatorError('the writer and the reader must be different roles');
  const session = new Session(place, 'primary', 1);
  try {
    await session.write(async (queries) => {
      await createRoles(queries, roles);
      await createSchema(queries, place.schema, roles);
    });
    // Do not migrate an existing store: another process may be writing to it. Its writer migrates it.
    if ((await storeVersion(session)) === 0) await migrate(session, at, { owner: roles.writer });
  } finally {
    await session.close();
  }
}

async function createRoles(queries: Queries, roles: StoreRoles): Promise<void> {
  for (const role of [roles.writer, roles.reader]) {
    const known = await queries.rows('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    if (known.length > 0) continue;
    await queries.run(
      `CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`,
    );
  }
  const reader = pg.escapeIdentifier(roles.reader);
  await queries.run(`ALTER ROLE ${reader} SET default_transaction_read_only = on`);
  await queries.run(`ALTER ROLE ${reader} SET statement_timeout = ${readerStatementMs}`);
}

async function createSchema(queries: Queries, name: string, roles: StoreRoles): Promise<void> {
  const schema = pg.escapeIdentifier(name);
  const writer = pg.escapeIdentifier(roles.writer);
  const reader = pg.escapeIdentifier(roles.reader);
  const [row] = await queries.rows<{ database: string; superuser: boolean }>(
    `SELECT quote_ident(current_database()) AS database,
     (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser`,
  );
  await queries.run(`GRANT CONNECT ON DATABASE ${row?.database ?? ''} TO ${writer}, ${reader}`);
  // Only a member of the writer's role may create a schema owned by that role.
  if (row?.superuser !== true) await queries.run(`GRANT ${writer} TO CURRENT_USER`);
  await queries.run(`CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${writer}`);
  await assertUsable(queries, name, roles.writer);
  await queries.run(`REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC`);
  await queries.run(`GRANT USAGE ON SCHEMA ${schema} TO ${reader}`);
  await queries.run(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${reader}`);
  // Grant access to future tables too, because the writer creates a table for each day.
  const grant = `GRANT SELECT ON TABLES TO ${reader}`;
  await queries.run(`ALTER DEFAULT PRIVILEGES FOR ROLE ${writer} IN SCHEMA ${schema} ${grant}`);
}

/**
 * Throws `OperatorError` if the schema existed before and the writer may not create tables in it, or if it contains no
 * store but tables with the names of a store's tables.
 */
async function assertUsable(queries: Queries, schema: string, writer: string): Promise<void> {
  const another = 'or choose another schema with ?schema=NAME in the URL';
  const [row] = await queries.rows<{ owner: string; usable: boolean }>(
    `SELECT pg_get_userbyid(nspowner) AS owner,
     has_schema_privilege($2, oid, 'CREATE') AND has_schema_privilege($2, oid, 'USAGE') AS usable
     FROM pg_namespace WHERE nspname = $1`,
    [schema, writer],
  );
  if (row?.usable === false) {
    throw new OperatorError(
      `the schema ${schema} exists and belongs to ${row.owner}, so ${writer} may not create tables in it: run ALTER SCHEMA ${pg.escapeIdentifier(schema)} OWNER TO ${pg.escapeIdentifier(writer)}, ${another}`,
    );
  }
  const tables = await queries.rows<{ name: string }>(
    'SELECT relname AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 ORDER BY relname',
    [schema],
  );
  const names = tables.map(({ name }) => name);
  const taken = names.filter((name) => tableNames.includes(name));
  if (names.includes('migration') || taken.length === 0) return;
  throw new OperatorError(
    `the schema ${schema} contains tables of another program (${taken.join(', ')}): remove them, ${another}`,
  );
}

/** Returns the name of the table with the rows of a day. */
export function partitionOf(day: number): string {
  return `observation_${dayName(day).replaceAll('-', '_')}`;
}
