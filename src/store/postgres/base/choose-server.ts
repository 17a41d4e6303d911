import { OperatorError } from '../../../ops/errors.ts';
import { StoreError } from '../../errors.ts';
import { type Connection, type ConnectOptions, connectTo, endConnection, isUsable } from './connect.ts';
import { describePlace, type PostgresHost, type PostgresPlace, type SessionKind } from './place.ts';
import { isLate, repeated, stateOf } from './sqlstates.ts';
import { storeError } from './store-error.ts';

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
