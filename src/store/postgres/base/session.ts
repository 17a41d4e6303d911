import pg from 'pg';
import { StoreError } from '../../errors.ts';
import { applicationOf, type Connection, destroyConnection, processName } from './connect.ts';
import { describePlace, type PostgresPlace, type SessionKind } from './place.ts';
import { Pool } from './pool.ts';
import { isKept, isLate, LostConnection, reasonOf, repeated, stateOf, storeError, type Wait } from './sqlstates.ts';
import { copyIn, literal, parameter, type Value } from './value.ts';

/** Queries in one transaction. Table names need no schema. */
export interface Queries {
  /** Runs a statement and returns its rows. Statements started without waiting for each other share a round trip. */
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement and returns the number of affected rows. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /** Runs a COPY FROM STDIN with its data, as `binaryRows` encodes it. */
  copy(sql: string, data: readonly Buffer[]): Promise<void>;
}

/** A transaction in two round trips. */
interface Joint<T> {
  /** Change that begins the transaction, without parameters. */
  readonly first: string;
  /** Called while the server runs the first change. */
  readonly meanwhile?: () => void;
  /**
   * Sends the other statements, without waiting for their results, which arrive with that of the commit. `changed` is
   * the number of rows that the first change has changed. Throwing rolls the transaction back.
   */
  readonly send: (queries: Queries, changed: number) => Promise<Sent<T>>;
}

/** Statements that share a round trip with the commit. */
interface Sent<T> {
  readonly statements: readonly Promise<unknown>[];
  readonly result: T;
}

/** Limits of a transaction, in milliseconds. */
export interface Limits {
  readonly statementMs: number;
  /** Time after `statementMs` within which the reply must arrive; also the maximum time to connect. */
  readonly replyMs: number;
  /** Aborting this signal closes the connection of a transaction at once, and rejects one that waits for a connection. */
  readonly signal?: AbortSignal;
  /**
   * Limits what is repeated; absent to repeat what the table of SQLSTATEs allows. `unbegun`: only a transaction whose work
   * has not begun, because the work has effects outside the database. `nothing`: the caller must learn of each error.
   */
  readonly repeats?: 'unbegun' | 'nothing';
}

/** Limits of short transactions. */
export const shortLimits: Limits = { statementMs: 30_000, replyMs: 5_000 };
/** Limits of upkeep and verification, which read whole days. */
export const longLimits: Limits = { statementMs: 1_800_000, replyMs: 5_000 };

/** Maximum time that a statement waits for a lock, in milliseconds. */
const lockMs = 10_000;
/**
 * Maximum time that a statement outside a transaction waits for a lock, in milliseconds. A later run of the upkeep
 * tries again.
 */
const outsideLockMs = 2_000;
/**
 * Maximum time between two statements of a transaction, in milliseconds, so that a suspended process does not keep its
 * locks.
 */
const idleMs = 5_000;
/** Interval at which the server checks that the client of a running statement is still connected, in milliseconds. */
const checkMs = 2_000;
/**
 * Maximum time for which a reader waits for each of several servers, in milliseconds. A suspended machine accepts
 * connections without responding, and the account surface ends a read after 5 s.
 */
const choosingMs = 1_500;
/** Maximum number of waiting requests. Each labeler, at most 10,000, may have one for its page and one for its gap. */
const maxWaiting = { reader: 1_000, writer: 20_000 } as const;
/**
 * SQL that makes a commit wait for the server's disk and for synchronous standbys, even if the server's setting is
 * weaker.
 */
const durable = `SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit') IN ('off', 'local')`;

/**
 * Transactions on the database of one store. Every error is thrown as a `StoreError`. What is repeated is in the table
 * `sqlStates`: reads, changes that were left idle, and every transaction whose work has not begun.
 * Changes are urgent: they are never refused as `busy`, and do not wait behind the reads of thousands of labelers. Each
 * of the few callers that change data waits for its previous change.
 */
export class Session {
  readonly place: PostgresPlace;
  readonly name: string;
  /** True if the session belongs to the process that writes to the store. */
  readonly isWriter: boolean;
  readonly #pool: Pool;
  readonly #limits: Limits;
  readonly #wait: Wait | undefined;

  /** `wait` waits between two attempts; absent for a timer. */
  constructor(
    place: PostgresPlace,
    target: SessionKind | 'writer',
    connections: number,
    limits = shortLimits,
    wait?: Wait,
  ) {
    this.#limits = limits;
    this.#wait = wait;
    this.place = place;
    this.name = describePlace(place);
    this.isWriter = target === 'writer';
    const isChoosing = !this.isWriter && place.hosts.length > 1;
    const connectMs = isChoosing ? Math.min(limits.replyMs, choosingMs) : limits.replyMs;
    const waiting = this.isWriter ? maxWaiting.writer : maxWaiting.reader;
    this.#pool = new Pool(
      place,
      { connections, waiting },
      {
        target: target === 'writer' ? 'primary' : target,
        connectMs,
        application: this.isWriter ? applicationOf(processName()) : 'almanac',
        ...(wait && { wait }),
      },
    );
  }

  /** Runs a transaction that changes data. Each statement sees all changes committed before it starts. */
  write<T>(work: (queries: Queries) => Promise<T>, limits = this.#limits): Promise<T> {
    return this.#repeated(limits, 'change', ({ client }, begun) =>
      this.#transaction(client, { isolation: 'READ COMMITTED', first: durable, limits, begun }, awaited(work)),
    );
  }

  /** Runs a transaction that changes data. Its commit is sent with its last statements. `send` is called only once. */
  writeJointly<T>({ first, meanwhile, send }: Joint<T>): Promise<T> {
    // The first change ends the text of BEGIN, so that it cannot run outside the transaction.
    const options = { isolation: 'READ COMMITTED', first: `${durable}; ${first}`, limits: this.#limits };
    return this.#repeated({ ...this.#limits, repeats: 'unbegun' }, 'change', ({ client }, begun) =>
      this.#transaction(client, { ...options, begun, ...(meanwhile && { meanwhile }) }, send),
    );
  }

  /**
   * Runs a transaction that changes data in one round trip, so that the server never waits for the client: the commit
   * follows the statements, of which the first is `first`. `record` passes the others, whose results are not available,
   * and sends nothing itself. Nothing is repeated, because the outcome is unknown after a lost connection.
   */
  async writeAtOnce(first: string, record: (queries: Queries) => Promise<unknown>): Promise<void> {
    const { statementMs, replyMs } = this.#limits;
    const script = new Script(`${this.#beginning('READ COMMITTED', this.#limits, `${durable}; ${first}`)};`);
    await record(script);
    await this.#use({ isUrgent: true }, async ({ client }) => {
      try {
        assertCommitted(await script.send(client, statementMs + replyMs));
      } catch (error) {
        await rollBack(senderOf(client, this.#limits), error);
      }
    });
  }

  /**
   * Runs queries on one snapshot of the database. `locked` names the partitioned table that they read: its lock is
   * taken before the snapshot, so that no partition in the snapshot can be detached during the transaction. On a
   * standby, `after` runs on a later snapshot of the same server. Unless `limits` exclude it, a read that recovery on a
   * standby cancels is repeated, and so is, once, a read that loses its connection.
   */
  read<T>(work: (queries: Queries) => Promise<T>, options: ReadOptions = {}): Promise<T> {
    const { locked = null, after, limits = this.#limits, isUrgent = false } = options;
    const first = locked === null ? '' : `LOCK TABLE ONLY ${locked} IN ACCESS SHARE MODE;`;
    const isolation = 'REPEATABLE READ READ ONLY';
    return this.#repeated(limits, isUrgent ? 'urgent read' : 'read', async ({ client, isStandby }, begun) => {
      const result = await this.#transaction(client, { isolation, first, limits, begun }, awaited(work));
      if (after && isStandby) await this.#transaction(client, { isolation, first: '', limits, begun }, awaited(after));
      return result;
    });
  }

  /** Runs one statement that cannot run in a transaction. Table names need the schema. */
  async outside(sql: string, signal?: AbortSignal): Promise<void> {
    const { statementMs } = longLimits;
    await this.#repeated({ ...this.#limits, ...(signal && { signal }) }, 'change', async ({ client }, begun) => {
      const short = senderOf(client, this.#limits);
      await short(`SET lock_timeout = ${outsideLockMs}; SET statement_timeout = ${statementMs}`);
      begun();
      await senderOf(client, longLimits)(sql).finally(() => short('RESET lock_timeout; RESET statement_timeout'));
    });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Runs `run`, which calls `begun` before the work of its caller, as often as the table of SQLSTATEs allows. */
  #repeated<T>(
    { signal, repeats }: Limits,
    kind: 'read' | 'urgent read' | 'change',
    run: (connection: Connection, begun: () => void) => Promise<T>,
  ): Promise<T> {
    let hasBegun = false;
    let losses = 0;
    const mayRepeat = (error: unknown): boolean => {
      if (repeats === 'nothing' || signal?.aborted === true) return false;
      const { reading = 'report', repeatsChange = false } = stateOf(error) ?? {};
      if (hasBegun && (repeats === 'unbegun' || (kind === 'change' && !repeatsChange))) return false;
      if (!hasBegun || reading !== 'once') return reading !== 'report';
      losses += 1;
      return losses === 1;
    };
    return repeated(
      () => {
        hasBegun = false;
        return this.#use({ isUrgent: kind !== 'read', ...(signal && { signal }) }, (connection) =>
          run(connection, () => {
            hasBegun = true;
          }),
        );
      },
      mayRepeat,
      this.#wait,
    );
  }

  async #transaction<T>(
    client: pg.Client,
    { isolation, first, limits, begun, meanwhile }: TransactionOptions,
    work: (queries: Queries, changed: number) => Promise<Sent<T>>,
  ): Promise<T> {
    const begin = this.#beginning(isolation, limits, first);
    const short = limits.statementMs < this.#limits.statementMs ? limits : this.#limits;
    const send = senderOf(client, short);
    try {
      const beginning = send(begin);
      // Prevent an unhandled rejection if `meanwhile` throws.
      beginning.catch(() => undefined);
      meanwhile?.();
      const changed = lastOf(await beginning).rowCount ?? 0;
      begun();
      const { result, statements } = await work(queriesOf(client, limits), changed);
      await commit(send, statements);
      return result;
    } catch (error) {
      return rollBack(send, error);
    }
  }

  /** Returns the statements that begin a transaction. A failure of one of them prevents `first`. */
  #beginning(isolation: string, { statementMs }: Limits, first: string): string {
    return `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL search_path TO ${pg.escapeIdentifier(this.place.schema)};
SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs};
SET LOCAL idle_in_transaction_session_timeout = ${idleMs}; SET LOCAL client_connection_check_interval = ${checkMs}; ${first}`;
  }

  async #use<T>(
    { signal, isUrgent }: Pick<Limits, 'signal'> & { readonly isUrgent: boolean },
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const aborted = (): StoreError => new StoreError('closed', `${this.name}: the operation was aborted`);
    if (signal?.aborted) throw aborted();
    try {
      return await this.#pool.use(
        isUrgent,
        async (connection) => {
          if (signal?.aborted) throw aborted();
          const end = (): void => void destroyConnection(connection);
          signal?.addEventListener('abort', end, { once: true });
          try {
            return await work(connection);
          } catch (error) {
            throw reasonOf(connection.failure(), error);
          } finally {
            signal?.removeEventListener('abort', end);
          }
        },
        isKept,
      );
    } catch (error) {
      throw storeError(error, this.name);
    }
  }
}

interface TransactionOptions {
  readonly isolation: string;
  /** Statement after the limits of the transaction, or an empty string. */
  readonly first: string;
  readonly limits: Limits;
  /** Called before the work of the caller. */
  readonly begun: () => void;
  /** Called while the server begins the transaction. */
  readonly meanwhile?: () => void;
}

/** Options for a read. */
interface ReadOptions {
  /** True for a read that is as urgent as a change; see `Session`. Its caller waits for its previous read. */
  readonly isUrgent?: boolean;
  readonly locked?: string;
  readonly after?: (queries: Queries) => Promise<void>;
  readonly limits?: Limits;
}

/** Returns work that has received the results of all its statements. */
function awaited<T>(work: (queries: Queries) => Promise<T>): (queries: Queries) => Promise<Sent<T>> {
  return async (queries) => ({ statements: [], result: await work(queries) });
}

/**
 * Commits the transaction and waits for the statements that precede the commit. After a failed statement, PostgreSQL
 * answers COMMIT with a rollback but no error; this function then throws the error of the statement, or `unexpected` if
 * none failed.
 */
async function commit(send: Sender, statements: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled([...statements, send('COMMIT')]);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  const last = outcomes.at(-1);
  assertCommitted(last?.status === 'fulfilled' ? (last.value as pg.QueryResult).command : null);
}

function assertCommitted(command: string | null): void {
  if (command !== 'COMMIT') throw new StoreError('unexpected', 'the transaction was rolled back');
}

/** Rolls back the transaction that an error has ended, and throws the reason for the error. */
async function rollBack(send: Sender, error: unknown): Promise<never> {
  await send('ROLLBACK').catch(() => {
    // The error of a statement states why the connection was lost; an error of the caller does not.
    throw stateOf(error) !== null || isLate(error) ? error : new LostConnection({ cause: error });
  });
  throw error;
}

type Sender = (sql: string, values?: readonly Value[]) => Promise<pg.QueryResult<object>>;

/**
 * Returns a function that sends a statement. The driver closes the connection if the reply is late, because the server
 * or a proxy may have stopped forwarding data without closing the connection.
 */
function senderOf(client: pg.Client, { statementMs, replyMs }: Limits): Sender {
  const query_timeout = statementMs + replyMs;
  return (text, values) => {
    // The driver's type definitions lack the timeout of a single query.
    const query = { text, query_timeout, ...(values && { values: values.map(parameter) }) };
    return client.query<object>(query);
  };
}

/** Returns the result of the last statement of a text with several statements. */
function lastOf(results: pg.QueryResult<object> | pg.QueryResult<object>[]): pg.QueryResult<object> {
  const last = Array.isArray(results) ? results.at(-1) : results;
  if (last === undefined) throw new StoreError('unexpected', 'the driver returned no result');
  return last;
}

function queriesOf(client: pg.Client, limits: Limits): Queries {
  const send = senderOf(client, limits);
  return {
    rows: async <Row extends object>(sql: string, values: readonly Value[] = []) =>
      (await send(sql, values)).rows as Row[],
    run: async (sql, values = []) => (await send(sql, values)).rowCount ?? 0,
    copy: async (sql, data) => void (await copyIn(client, sql, data, limits.statementMs + limits.replyMs)),
  };
}

/** Statements of one transaction, which `send` passes to the server at once. Their results are not available. */
class Script implements Queries {
  #text: string;
  #data: readonly Buffer[] | null = null;

  constructor(first: string) {
    this.#text = first;
  }

  rows<Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    this.#add(sql, values);
    return Promise.resolve([]);
  }

  run(sql: string, values: readonly Value[] = []): Promise<number> {
    this.#add(sql, values);
    return Promise.resolve(0);
  }

  copy(sql: string, data: readonly Buffer[]): Promise<void> {
    this.#add(sql, []);
    this.#data = data;
    return Promise.resolve();
  }

  /** Sends the statements and the commit. Resolves with the last command that the server ran. */
  send(client: pg.Client, timeoutMs: number): Promise<string | null> {
    return copyIn(client, `${this.#text} COMMIT`, this.#data, timeoutMs);
  }

  #add(sql: string, values: readonly Value[]): void {
    this.#text += ` ${sql.replace(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1] ?? null))};`;
  }
}
