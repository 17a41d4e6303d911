import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import pg from 'pg';
import { OperatorError } from '../../../ops/errors.ts';
import { StoreError } from '../../errors.ts';
import { describePlace, type PostgresHost, type PostgresPlace, readPassword, type SessionKind } from './place.ts';
import { storeError } from './store-error.ts';
import { decodeText } from './value.ts';

/** Idle time after which the operating system probes whether the server is still reachable, in milliseconds. */
const keepAliveMs = 10_000;
/** Maximum time to wait until a server closes a connection without a running statement, in milliseconds. */
const endMs = 1_000;
/** Minimum version of the server, as `server_version_num`. */
const minVersion = 150_000;

/** OIDs of the PostgreSQL types whose values are converted. */
const [int8, int2, int4, text, bytea] = [20, 21, 23, 25, 17];

/** A connection to one server. */
export interface Connection {
  readonly client: pg.Client;
  readonly socket: Socket;
  /** Server to which the connection leads. */
  readonly server: PostgresHost;
  /** True if the server was a standby when the connection was made. */
  readonly isStandby: boolean;
  /** Returns the error with which the server ended the connection outside a statement, or null if there is none. */
  readonly failure: () => unknown;
}

/** Options for a connection. */
export interface ConnectOptions {
  readonly target: SessionKind;
  /** Maximum time to connect to one server, in milliseconds. */
  readonly connectMs: number;
  /** Server that is tried first, or null to try the servers in the order of `place`. */
  readonly first: PostgresHost | null;
  /** Name under which the server lists the connection. */
  readonly application: string;
}

/**
 * Connects to the first server in `place` that has the required role. Throws `unreachable` if there is none. The driver
 * itself supports only one server per connection.
 */
export async function connect(place: PostgresPlace, options: ConnectOptions): Promise<Connection> {
  const { target, first } = options;
  const failures: string[] = [];
  let spare: Connection | null = null;
  for (const host of first ? [first, ...place.hosts.filter((other) => other !== first)] : place.hosts) {
    try {
      const found = await connectTo(place, host, options);
      if (accepts(target, found.isStandby)) {
        if (spare) await endConnection(spare);
        return found;
      }
      failures.push(`${host.host}:${host.port} is ${found.isStandby ? 'a standby' : 'a primary'}`);
      if (target === 'prefer-standby' && spare === null) spare = found;
      else await endConnection(found);
    } catch (error) {
      if (error instanceof OperatorError) throw error;
      const failure = storeError(error, `${host.host}:${host.port}`);
      if (failure.code !== 'unreachable' && failure.code !== 'unexpected' && failure.code !== 'busy') throw failure;
      failures.push(failure.message);
    }
  }
  if (spare) return spare;
  throw new StoreError('unreachable', `no server of ${describePlace(place)} can be used: ${failures.join('; ')}`);
}

function accepts(target: SessionKind, isStandby: boolean): boolean {
  return target === 'any' || isStandby === (target !== 'primary');
}

async function connectTo(
  place: PostgresPlace,
  server: PostgresHost,
  { connectMs, application }: ConnectOptions,
): Promise<Connection> {
  const { host, port } = server;
  const password = readPassword(place);
  const socket = new Socket();
  const client = new pg.Client({
    stream: () => socket,
    host,
    port,
    user: place.user,
    database: place.database,
    ...(password === undefined ? {} : { password }),
    ssl: tlsOf(place, host),
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    application_name: application,
    pipeline: true,
    types: { getTypeParser: parserOf },
  });
  let failure: unknown = null;
  // Record the error instead of throwing it: a lost connection also fails its queries, which report the error.
  client.on('error', (error) => {
    failure ??= error;
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean; version: string }>(
      "SELECT pg_is_in_recovery() AS standby, current_setting('server_version_num') AS version",
    );
    if (Number(rows[0]?.version) < minVersion) {
      throw new OperatorError(`the PostgreSQL server at ${host}:${port} is older than version 15`);
    }
    return { client, socket, server, isStandby: rows[0]?.standby === true, failure: () => failure };
  } catch (error) {
    await destroyConnection({ socket });
    throw error;
  }
}

/** Ends a connection that has no running statement. Waits only briefly if the server does not respond. */
export async function endConnection({ client, socket }: Connection): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), endMs);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** Closes a connection at once, even if a statement is running. The server then detects that its client is gone. */
export async function destroyConnection({ socket }: Pick<Connection, 'socket'>): Promise<void> {
  if (socket.closed) return;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.destroy();
  await closed;
}

function tlsOf({ tls, tlsAuthorities }: PostgresPlace, host: string): pg.ClientConfig['ssl'] {
  if (tls === 'disable' || host.startsWith('/')) return false;
  if (tlsAuthorities === null) return { rejectUnauthorized: tls === 'verify-full' };
  try {
    return { rejectUnauthorized: tls === 'verify-full', ca: readFileSync(tlsAuthorities, 'utf8') };
  } catch {
    throw new OperatorError(`cannot read the certificates in ${tlsAuthorities}`);
  }
}

type Parser = (value: string) => unknown;
const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  // All stored integers are exact as numbers: stamps stay below 2^53.
  [int8, Number],
  [int4, Number],
  [int2, Number],
  [text, decodeText],
  [bytea, (value) => Buffer.from(value.slice(2), 'hex')],
  [16, (value) => value === 't'],
  [701, Number],
]);

function parserOf(oid: number): Parser {
  return parsers.get(oid) ?? ((value) => value);
}
