import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { StoreError } from '../../errors.ts';
import { destroyConnection } from './connect.ts';
import { describePlace, type PostgresPlace, type SessionKind } from './place.ts';
import { Pool } from './pool.ts';
import { applicationOf, processName } from './process-name.ts';
import { codeOf, isRecoveryConflict, storeError } from './store-error.ts';
import { parameter, type Value } from './value.ts';

/** Queries in one transaction. Table names need no schema. */
export interface Queries {
  /** Runs a statement and returns its rows. Statements started without waiting for each other share a round trip. */
  rows<Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement and returns the number of affected rows. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

/** Limits of a transaction, in milliseconds. */
export interface Limits {
  readonly statementMs: number;
  /** Time after `statementMs` within which the reply must arrive; also the maximum time to connect. */
  readonly replyMs: number;
  /** Aborting this signal closes the connection of the transaction in progress at once. */
  readonly signal?: AbortSignal;
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
/**
 * SQL that makes a commit wait for the server's disk and for synchronous standbys, even if the server's setting is
 * weaker.
 */
const durable = `SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit') IN ('off', 'local')`;
/** Maximum number of attempts for a read that is cancelled by recovery on a standby. */
const maxAttempts = 5;
/** Delay before the second attempt of a read, in milliseconds; doubles for each further attempt. */
const attemptMs = 20;

/** Transactions on the database of one store. Every error is thrown as a `StoreError`. */
export class Session {
  readonly place: PostgresPlace;
  readonly name: string;
  /** True if the session belongs to the process that writes to the store. */
  readonly isWriter: boolean;
  readonly #pool: Pool;
  readonly #limits: Limits;

  constructor(place: PostgresPlace, target: SessionKind | 'writer', connections: number, limits = shortLimits) {
    this.#limits = limits;
    this.place = place;
    this.name = describePlace(place);
    this.isWriter = target === 'writer';
    const isChoosing = !this.isWriter && place.hosts.length > 1;
    const connectMs = isChoosing ? Math.min(limits.replyMs, choosingMs) : limits.replyMs;
    this.#pool = new Pool(place, connections, {
      target: target === 'writer' ? 'primary' : target,
      connectMs,
      application: this.isWriter ? applicationOf(processName()) : 'almanac',
    });
  }

  /** Runs a transaction that changes data. Each statement sees all changes committed before it starts. */
  write<T>(work: (queries: Queries) => Promise<T>, limits = this.#limits): Promise<T> {
    return this.#use(limits.signal, (client) =>
      this.#transaction(client, { isolation: 'READ COMMITTED', first: durable, limits }, work),
    );
  }

  /**
   * Runs queries on one snapshot of the database. `locked` names the partitioned table that they read: its lock is
   * taken before the snapshot, so that no partition in the snapshot can be detached during the transaction. On a
   * standby, `after` runs on a later snapshot of the same server. A read that is cancelled by recovery is repeated, up
   * to `maxAttempts` attempts in total.
   */
  async read<T>(work: (queries: Queries) => Promise<T>, options: ReadOptions = {}): Promise<T> {
    const { locked = null, after, limits = this.#limits } = options;
    const first = locked === null ? '' : `LOCK TABLE ONLY ${locked} IN ACCESS SHARE MODE;`;
    const isolation = 'REPEATABLE READ READ ONLY';
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#use(limits.signal, async (client, isStandby) => {
          const result = await this.#transaction(client, { isolation, first, limits }, work);
          if (after && isStandby) await this.#transaction(client, { isolation, first: '', limits }, after);
          return result;
        });
      } catch (error) {
        if (attempt === maxAttempts || !isRecoveryConflict(error)) throw error;
        await wait(attemptMs * 2 ** (attempt - 1));
      }
    }
  }

  /** Runs one statement that cannot run in a transaction. Table names need the schema. */
  async outside(sql: string, signal?: AbortSignal): Promise<void> {
    await this.#use(signal, async (client) => {
      const short = senderOf(client, this.#limits);
      const { statementMs } = longLimits;
      await short(`SET lock_timeout = ${outsideLockMs}; SET statement_timeout = ${statementMs}`);
      await senderOf(client, longLimits)(sql).finally(() => short('RESET lock_timeout; RESET statement_timeout'));
    });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #transaction<T>(
    client: pg.Client,
    { isolation, first, limits }: { readonly isolation: string; readonly first: string; readonly limits: Limits },
    work: (queries: Queries) => Promise<T>,
  ): Promise<T> {
    const begin = `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL search_path TO ${this.place.schema};
SET LOCAL statement_timeout = ${limits.statementMs}; SET LOCAL lock_timeout = ${lockMs};
SET LOCAL idle_in_transaction_session_timeout = ${idleMs}; SET LOCAL client_connection_check_interval = ${checkMs}; ${first}`;
    const send = senderOf(client, limits.statementMs < this.#limits.statementMs ? limits : this.#limits);
    try {
      await send(begin);
      const result = await work(queriesOf(senderOf(client, limits)));
      await commit(send);
      return result;
    } catch (error) {
      await send('ROLLBACK').catch(() => {
        // Recovery on a standby may end the connection; the caller then repeats the read on another connection.
        if (isRecoveryConflict(error)) throw error;
        throw new StoreError('unreachable', `${this.name}: the connection was lost`, { cause: error });
      });
      throw error;
    }
  }

  async #use<T>(
    signal: AbortSignal | undefined,
    work: (client: pg.Client, isStandby: boolean) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted) throw new StoreError('closed', `${this.name}: the operation was aborted`);
    try {
      return await this.#pool.use(async (connection) => {
        const { client, isStandby, failure } = connection;
        const end = (): void => void destroyConnection(connection);
        signal?.addEventListener('abort', end, { once: true });
        try {
          return await work(client, isStandby);
        } catch (error) {
          // If recovery ends the connection between two statements, only `failure` returns the reason.
          throw isRecoveryConflict(failure()) ? failure() : error;
        } finally {
          signal?.removeEventListener('abort', end);
        }
      }, isSound);
    } catch (error) {
      throw storeError(error, this.name);
    }
  }
}

/** Options for a read. */
export interface ReadOptions {
  readonly locked?: string;
  readonly after?: (queries: Queries) => Promise<void>;
  readonly limits?: Limits;
}

/**
 * Commits the transaction. After a failed statement, PostgreSQL answers COMMIT with a rollback but no error; this
 * function then throws `unexpected`.
 */
async function commit(send: Sender): Promise<void> {
  const { command } = await send('COMMIT');
  if (command !== 'COMMIT') throw new StoreError('unexpected', 'the transaction was rolled back');
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

function queriesOf(send: Sender): Queries {
  return {
    rows: async <Row extends object>(sql: string, values: readonly Value[] = []) =>
      (await send(sql, values)).rows as Row[],
    run: async (sql, values = []) => (await send(sql, values)).rowCount ?? 0,
  };
}

/** Returns true if the connection can be reused after an error: an error of a statement or of the caller. */
function isSound(error: unknown): boolean {
  if (error instanceof StoreError) return error.code !== 'unexpected' && error.code !== 'unreachable';
  const code = codeOf(error);
  // The server ends the session after a FATAL error, regardless of the error code.
  if (error instanceof Error && 'severity' in error && error.severity === 'FATAL') return false;
  // Errors of the classes 08 and 25, and errors whose code begins with 57P, can end the session. Codes that begin
  // with E are excluded, because system error codes such as EPIPE can also have five characters.
  return code !== null && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|25|57P)/.test(code) && !code.startsWith('E');
}
