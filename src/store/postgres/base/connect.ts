import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import pg from 'pg';
import { OperatorError } from '../../../ops/errors.ts';
import { type PostgresHost, type PostgresPlace, readPassword } from './place.ts';
import { isKept, LostConnection, reasonOf, repeated, stateOf, type Wait } from './sqlstates.ts';
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
  /** Server that the client is connected to. */
  readonly server: PostgresHost;
  /** True if the server was a standby when the connection was made. */
  readonly isStandby: boolean;
  /** Returns the error that ended the connection outside a statement, or null if there is no such error. */
  readonly failure: () => unknown;
}

/** Options for a connection. */
export interface ConnectOptions {
  /** Maximum time to connect to one server, including all attempts, in milliseconds. */
  readonly connectMs: number;
  /** Name under which the server lists the connection. */
  readonly application: string;
  /** Waits between two attempts; absent for a timer. */
  readonly wait?: Wait;
}

/**
 * Connects to one server of `place`. Repeats what the server cancelled, on the same connection if the server kept it; see
 * `sqlStates`. If `signal` aborts, the attempt fails. Throws `OperatorError` if the version of the server is too old, or
 * if the password file or the certificates cannot be read.
 */
export async function connectTo(
  place: PostgresPlace,
  server: PostgresHost,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  // A server that answers each attempt late must not multiply the time limit.
  const timer = setTimeout(end, options.connectMs);
  let open: Opened | null = null;
  try {
    return await repeated(
      async () => {
        if (ending.signal.aborted) throw new LostConnection();
        open ??= await openSocket(place, server, options, ending.signal);
        try {
          return await lookAt(open, server);
        } catch (error) {
          const { socket, failure } = open;
          const reason = reasonOf(failure(), error);
          if (!isKept(reason) || socket.destroyed) {
            await destroyConnection(open);
            open = null;
          }
          throw reason;
        }
      },
      (error) => !ending.signal.aborted && stateOf(error)?.connecting === 'repeat',
      options.wait,
    );
  } catch (error) {
    if (open !== null) await destroyConnection(open);
    throw ending.signal.aborted ? new Error('timeout expired', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** A connection that has sent no statement. */
type Opened = Pick<Connection, 'client' | 'socket' | 'failure'>;

async function openSocket(
  place: PostgresPlace,
  { host, port }: PostgresHost,
  { connectMs, application }: ConnectOptions,
  signal: AbortSignal,
): Promise<Opened> {
  const password = readPassword(place);
  const socket = new Socket();
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  // The signal belongs to one choice of a server, which a connection outlives.
  socket.once('close', () => signal.removeEventListener('abort', stop));
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
    return { client, socket, failure: () => failure };
  } catch (error) {
    await destroyConnection({ socket });
    throw error;
  }
}

/** Runs the first statement, which determines the version and the role of the server. */
async function lookAt(open: Opened, server: PostgresHost): Promise<Connection> {
  const { rows } = await open.client.query<{ standby: boolean; version: string }>(
    "SELECT pg_is_in_recovery() AS standby, current_setting('server_version_num') AS version",
  );
  if (Number(rows[0]?.version) < minVersion) {
    throw new OperatorError(`the PostgreSQL server at ${server.host}:${server.port} is older than version 15`);
  }
  return { ...open, server, isStandby: rows[0]?.standby === true };
}

/** Returns true if an idle connection is still open and has not failed. */
export function isUsable({ socket, failure }: Connection): boolean {
  return !socket.destroyed && failure() === null;
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
  // A number represents every stored integer exactly, because stamps are below 2^53.
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
