import { StoreError } from '../../errors.ts';
import { type ChooseOptions, type Connection, connect, destroyConnection, endConnection, isUsable } from './connect.ts';
import type { PostgresHost, PostgresPlace } from './place.ts';

/** Bounds of a pool. */
interface PoolBounds {
  readonly connections: number;
  /** Maximum number of requests, without urgent ones, that wait for a connection. Further ones are refused as `busy`. */
  readonly waiting: number;
}

interface Waiting {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Pool with a bounded number of connections to the servers of one place. A connection with a failed query is closed
 * unless the error left it usable. The pool uses only one server where possible, because the servers may not have
 * received the same data.
 */
export class Pool {
  readonly #place: PostgresPlace;
  readonly #bounds: PoolBounds;
  readonly #options: Omit<ChooseOptions, 'first'>;
  readonly #idle: Connection[] = [];
  /** Urgent requests, which get a connection before the others. */
  readonly #urgent: Waiting[] = [];
  readonly #waiting: Waiting[] = [];
  /** Server of the most recent connection. */
  #server: PostgresHost | null = null;
  #count = 0;
  #isClosed = false;
  #onEmpty: (() => void) | null = null;

  constructor(place: PostgresPlace, bounds: PoolBounds, options: Omit<ChooseOptions, 'first'>) {
    this.#place = place;
    this.#bounds = bounds;
    this.#options = options;
  }

  /**
   * Runs work with a connection. After an error, `isSound` decides whether the connection can be reused. Urgent work is
   * never refused as `busy` and gets the next free connection, so its caller must limit it.
   */
  async use<T>(
    isUrgent: boolean,
    work: (connection: Connection) => Promise<T>,
    isSound: (error: unknown) => boolean,
  ): Promise<T> {
    const connection = await this.#take(isUrgent);
    try {
      const result = await work(connection);
      this.#give(connection);
      return result;
    } catch (error) {
      if (isSound(error)) this.#give(connection);
      else void destroyConnection(connection).then(() => this.#release());
      throw error;
    }
  }

  /** Rejects waiting and further work, completes the work in progress, and resolves once all connections are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of [...this.#urgent.splice(0), ...this.#waiting.splice(0)]) reject(closed());
    for (const connection of this.#idle.splice(0)) this.#end(connection);
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  async #take(isUrgent: boolean): Promise<Connection> {
    if (this.#isClosed) throw closed();
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#count < this.#bounds.connections) return this.#open();
    if (!isUrgent && this.#waiting.length >= this.#bounds.waiting)
      throw new StoreError('busy', 'too many requests are waiting for a connection');
    return new Promise((resolve, reject) => {
      (isUrgent ? this.#urgent : this.#waiting).push({ resolve, reject });
    });
  }

  async #open(): Promise<Connection> {
    this.#count += 1;
    try {
      const first = this.#count > 1 ? this.#server : null;
      const connection = await connect(this.#place, { ...this.#options, first });
      connection.client.once('end', () => this.#forget(connection));
      if (this.#server !== connection.server) this.#moveTo(connection.server);
      return connection;
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Closes the idle connections to all other servers. Connections in use are closed when they are returned. */
  #moveTo(server: PostgresHost): void {
    this.#server = server;
    for (const connection of this.#idle.splice(0)) this.#end(connection);
  }

  #give(connection: Connection): void {
    // The server may have ended the connection since its last statement.
    if (connection.server !== this.#server || !isUsable(connection)) {
      this.#end(connection);
      return;
    }
    const next = this.#next();
    if (next) next.resolve(connection);
    else if (this.#isClosed) this.#end(connection);
    else this.#idle.push(connection);
  }

  #next(): Waiting | undefined {
    return this.#urgent.shift() ?? this.#waiting.shift();
  }

  #end(connection: Connection): void {
    void endConnection(connection).then(() => this.#release());
  }

  /** Removes an idle connection that the server ended. */
  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.#release();
  }

  /** Counts a closed connection, and lets a waiting request open a new connection. */
  #release(): void {
    this.#count -= 1;
    const next = this.#isClosed ? undefined : this.#next();
    if (next) this.#open().then(next.resolve, next.reject);
    if (this.#count === 0) this.#onEmpty?.();
  }
}

function closed(): StoreError {
  return new StoreError('closed', 'the store was closed');
}
