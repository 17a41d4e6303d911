import { OperatorError } from '../../../ops/errors.ts';
import type { PostgresPlace } from '../base/place.ts';
import { type Queries, Session } from '../base/session.ts';
import { migrate, storeVersion } from './migrate.ts';
import { migrations } from './migrations.ts';

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

async function createRoles(queries: Queries, { writer, reader }: StoreRoles): Promise<void> {
  for (const role of [writer, reader]) {
    const known = await queries.rows('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    if (known.length > 0) continue;
    await queries.run(`CREATE ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`);
  }
  await queries.run(`ALTER ROLE ${reader} SET default_transaction_read_only = on`);
  await queries.run(`ALTER ROLE ${reader} SET statement_timeout = ${readerStatementMs}`);
}

async function createSchema(queries: Queries, schema: string, { writer, reader }: StoreRoles): Promise<void> {
  const [row] = await queries.rows<{ database: string; superuser: boolean }>(
    `SELECT quote_ident(current_database()) AS database,
     (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser`,
  );
  await queries.run(`GRANT CONNECT ON DATABASE ${row?.database ?? ''} TO ${writer}, ${reader}`);
  // Only a member of the writer's role may create a schema owned by that role.
  if (row?.superuser !== true) await queries.run(`GRANT ${writer} TO CURRENT_USER`);
  await queries.run(`CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${writer}`);
  await assertUsable(queries, schema, writer);
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
      `the schema ${schema} exists and belongs to ${row.owner}, so ${writer} may not create tables in it: run ALTER SCHEMA ${schema} OWNER TO ${writer}, ${another}`,
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
