import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { hostname } from 'node:os';
import pg from 'pg';
import { OperatorError } from '../../../ops/errors.ts';
import { StoreError } from '../../errors.ts';
import { describePlace, type PostgresHost, type PostgresPlace, type SessionKind } from './place.ts';
import { isKept, isLate, LostConnection, reasonOf, repeated, stateOf, storeError, type Wait } from './sqlstates.ts';
import { decodeText } from './value.ts';

/**
 * Time after which the next server is tried even if the preceding one has neither connected nor failed, in
 * milliseconds. Each unresponsive server before a suitable one delays a connection by this time. Only if no server is
 * suitable does the choice wait until all attempts have failed.
 */
const staggerMs = 300;

/** Options for choosing a server. */
export interface ChooseOptions extends ConnectOptions {
  readonly target: SessionKind;
  /** Server that is tried first, or null to try the servers in the order of `place`. */
  readonly first: PostgresHost | null;
}

/**
 * Connects to a server in `place` that has the required role, beginning with `first` if it is given. With
 * `prefer-standby`, connects to a primary if no standby can be reached. If there is no such server but one of them will
 * be usable soon (see `sqlStates`), tries all of them again, a few times. Throws `unreachable` if there is no such
 * server, or `busy` if one of them only has no room. An `OperatorError`, for example because the password file cannot be
 * read, and store errors such as `damaged` are thrown without trying the other servers. The driver itself supports only
 * one server per connection.
 */
export function connect(place: PostgresPlace, options: ChooseOptions): Promise<Connection> {
  const choose = (): Promise<Connection> =>
    new Promise((resolve, reject) => new Choice(place, options, { resolve, reject }).tryNext());
  return repeated(choose, (error) => error instanceof NoServer && error.isTemporary, options.wait);
}

/** No server can be used. */
class NoServer extends StoreError {
  /** True if the next round may find a server. */
  readonly isTemporary: boolean;

  constructor(code: 'busy' | 'unreachable', message: string, isTemporary: boolean) {
    super(code, message);
    this.isTemporary = isTemporary;
  }
}

interface Outcome {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

/** One choice among several servers. The attempts overlap, and the first suitable connection is used. */
class Choice {
  readonly #place: PostgresPlace;
  readonly #options: ChooseOptions;
  readonly #outcome: Outcome;
  /** Servers that were not tried yet. */
  readonly #left: PostgresHost[];
  readonly #failures: string[] = [];
  /** True if a server that may be suitable rejected the connection only because it has no room. */
  #isBusy = false;
  /** True if a server may accept a connection soon. */
  #isTemporary = false;
  /** True if a server did not respond in time; a further round would take as long. */
  #isLate = false;
  #timer: NodeJS.Timeout | undefined;
  /** Attempts that have neither connected nor failed. */
  readonly #pending = new Set<AbortController>();
  /** Connection to a primary that is used if no standby can be reached. */
  #spare: Connection | null = null;
  #isOver = false;

  constructor(place: PostgresPlace, options: ChooseOptions, outcome: Outcome) {
    const { first } = options;
    this.#place = place;
    this.#options = options;
    this.#outcome = outcome;
    this.#left = first ? [first, ...place.hosts.filter((other) => other !== first)] : [...place.hosts];
  }

  /** Tries the next server. If no server is left and no attempt is pending, the choice ends. */
  tryNext(): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    const host = this.#left.shift();
    if (host === undefined) {
      if (this.#pending.size === 0) this.#exhausted();
      return;
    }
    const attempt = new AbortController();
    this.#pending.add(attempt);
    this.#timer = setTimeout(() => this.tryNext(), this.#patienceWith(host));
    void connectTo(this.#place, host, this.#options, attempt.signal)
      .finally(() => this.#pending.delete(attempt))
      .then(
        (found) => this.#connected(found, host),
        (error: unknown) => this.#failed(error, host),
      );
  }

  /**
   * Returns the time after which the next server is tried, in milliseconds. `first` gets more time: the existing
   * connections lead to it, and choosing another server closes them.
   */
  #patienceWith(host: PostgresHost): number {
    const { first, connectMs } = this.#options;
    return host === first ? Math.max(staggerMs, connectMs / 2) : staggerMs;
  }

  #connected(found: Connection, host: PostgresHost): void {
    const { target } = this.#options;
    const isSuitable = target === 'any' || found.isStandby === (target !== 'primary');
    if (this.#isOver) void endConnection(found);
    else if (isSuitable) this.#end(() => this.#outcome.resolve(found));
    else {
      this.#failures.push(`${host.host}:${host.port} is ${found.isStandby ? 'a standby' : 'a primary'}`);
      if (target === 'prefer-standby' && this.#spare === null) this.#spare = found;
      else void endConnection(found);
      this.tryNext();
    }
  }

  #failed(error: unknown, { host, port }: PostgresHost): void {
    if (this.#isOver) return;
    if (error instanceof OperatorError) {
      this.#end(() => this.#outcome.reject(error));
      return;
    }
    const state = stateOf(error);
    const failure = storeError(error, `${host}:${port}`);
    if (state?.connecting === 'report') {
      this.#end(() => this.#outcome.reject(failure));
      return;
    }
    this.#isBusy ||= failure.code === 'busy';
    this.#isTemporary ||= state?.connecting === 'round';
    this.#isLate ||= isLate(error);
    this.#failures.push(failure.message);
    this.tryNext();
  }

  #exhausted(): void {
    const spare = this.#spare;
    this.#spare = null;
    // The connection may have ended while the standbys were tried.
    if (spare && isUsable(spare)) {
      this.#end(() => this.#outcome.resolve(spare));
      return;
    }
    const message = `no server of ${describePlace(this.#place)} can be used: ${this.#failures.join('; ')}`;
    const isTemporary = this.#isTemporary && !this.#isLate;
    this.#end(() => this.#outcome.reject(new NoServer(this.#isBusy ? 'busy' : 'unreachable', message, isTemporary)));
  }

  /** Ends the choice and all attempts that are still pending. */
  #end(report: () => void): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const attempt of this.#pending) attempt.abort();
    if (this.#spare) void endConnection(this.#spare);
    report();
  }
}

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
interface ConnectOptions {
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
async function connectTo(
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

/**
 * Returns the password in the place's password file, or undefined if no file is given. Throws `OperatorError` if the
 * file is unreadable.
 */
function readPassword({ passwordFile }: PostgresPlace): string | undefined {
  if (passwordFile === null) return undefined;
  try {
    return readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new OperatorError(`cannot read the password file ${passwordFile}`);
  }
}
