import { setTimeout as wait } from 'node:timers/promises';
import { StoreError } from '../../errors.ts';
import type { Limits, Queries, Session } from './session.ts';

/** Default time without a renewal after which another process may take a writer's lease, in milliseconds. */
export const defaultLeaseMs = 4_000;
/** Number of renewals per lease duration. */
const renewals = 8;
/**
 * Number of lease durations after which a lease has ended if a waiting process has seen no renewal, whatever the server's
 * clock shows.
 */
export const silentDurations = 2;

/** Tokens of a newly taken lease. */
interface Taken {
  readonly token: number;
  /** Token of the previous lease. */
  readonly former: number;
}

/**
 * Returns the SQL expression for the next token. The token includes the time, so that it differs from every token
 * that the database issued to another process and then lost in a failover.
 */
function nextToken(column: string): string {
  return `greatest(${column} + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`;
}

interface LeaseRow {
  readonly token: number;
  readonly holder: string | null;
  readonly renewed: string;
  /** Time until the lease expires by the server's clock, in milliseconds. */
  readonly left: number;
}

/**
 * The right to write to a store. Each new writer gets a higher token, and each commit checks the token, so that a
 * writer that was suspended while another process took the lease can no longer write. The server's clock decides when a
 * lease expires. If that clock was set back since the last renewal, the lease expires too late: a process that waits for
 * it takes it after two lease durations without a renewal. An expired lease remains valid until another process takes it.
 */
export class Lease {
  readonly token: number;
  /** Token of the previous writer. */
  readonly former: number;
  /** Session with a connection of its own, so that reads and changes that wait for a lock do not delay a renewal. */
  readonly #session: Session;
  readonly #timer: NodeJS.Timeout;
  /** Limits for statements that change the lease: a change after the lease has expired would be useless. */
  readonly #limits: Limits;
  #renewing: Promise<void> = Promise.resolve();
  /** Aborts a renewal in progress. */
  readonly #released = new AbortController();
  /** True if the lease is no longer renewed. */
  #isEnded = false;
  /**
   * Called once, when another process asks this writer to stop. Null until the store is open, and again after the call.
   */
  #asked: (() => void) | null = null;

  private constructor(session: Session, { token, former }: Taken, leaseMs: number) {
    this.#session = session;
    this.token = token;
    this.former = former;
    this.#limits = { statementMs: leaseMs, replyMs: leaseMs };
    let isRenewing = false;
    this.#timer = setInterval(() => {
      if (isRenewing) return;
      isRenewing = true;
      this.#renewing = this.#renew(leaseMs).finally(() => {
        isRenewing = false;
      });
    }, leaseMs / renewals).unref();
  }

  /**
   * Takes the lease. If another process holds the lease, waits until the lease expires, and throws `second_writer` as
   * soon as that process renews it. `assertFree` runs in the same transaction and throws if another process is to
   * become the writer. `session` has one connection, which only the lease uses. It is closed when the lease is released,
   * or if it is not taken.
   */
  static async take(
    session: Session,
    holder: string,
    leaseMs: number,
    assertFree: (queries: Queries) => Promise<void> = () => Promise.resolve(),
  ): Promise<Lease> {
    try {
      return new Lease(session, await takeFrom(session, holder, leaseMs, assertFree), leaseMs);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /**
   * Throws `fenced` in a transaction that changes data if another process has taken the lease; otherwise no process can
   * take the lease before the commit. Concurrent changes of the same writer do not wait for each other.
   */
  async check(queries: Queries): Promise<void> {
    const sql = 'SELECT 1 FROM store WHERE token = $1 FOR KEY SHARE';
    if ((await queries.rows(sql, [this.token])).length === 0) this.lost();
  }

  /**
   * Records in a transaction of `session`, the one of the writer, that the store is open. `asked` is called once, when
   * another process asks this writer to stop.
   */
  async opened(session: Session, asked: () => void): Promise<void> {
    const sql = 'UPDATE succession SET writer_ready = $1';
    await session.write(async (queries) => {
      await this.check(queries);
      await queries.run(sql, [this.token]);
    });
    this.#asked = asked;
  }

  /** Throws `fenced`, because another process has taken the lease. Also stops renewing the lease. */
  lost(): never {
    this.#isEnded = true;
    throw new StoreError(
      'fenced',
      `another process has become the writer of the store in ${this.#session.name}; this process can no longer write`,
    );
  }

  /** Gives up the lease, so that the next writer does not have to wait, and closes its session. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    this.#isEnded = true;
    // Wait for a renewal in progress, which would otherwise extend the lease again.
    await Promise.race([this.#renewing, wait(this.#limits.replyMs, undefined, { ref: false })]);
    this.#released.abort();
    const sql = "UPDATE store SET expires_at = '-infinity' WHERE token = $1";
    // Ignore errors: without a connection the lease expires by itself.
    await this.#session.write((queries) => queries.run(sql, [this.token]), this.#limits).catch(() => undefined);
    await this.#session.close();
  }

  async #renew(leaseMs: number): Promise<void> {
    if (this.#isEnded) return;
    const sql = `UPDATE store SET renewed_at = clock_timestamp(),
      expires_at = clock_timestamp() + $2 * interval '1 millisecond' WHERE token = $1`;
    const asked = this.#asked;
    const limits = { ...this.#limits, signal: this.#released.signal };
    const isAsked = await this.#session
      .write(async (queries) => {
        await queries.run(sql, [this.token, leaseMs]);
        if (asked === null) return false;
        return (await queries.rows('SELECT 1 FROM succession WHERE hand_over = $1', [this.token])).length > 0;
      }, limits)
      // Ignore a failed renewal: if another process takes the lease, the next commit detects it.
      .catch(() => false);
    if (!isAsked) return;
    this.#asked = null;
    asked?.();
  }
}

/** Waits until the lease is free and takes it; see `Lease.take`. */
async function takeFrom(
  session: Session,
  holder: string,
  leaseMs: number,
  assertFree: (queries: Queries) => Promise<void>,
): Promise<Taken> {
  let seen: LeaseRow | null = null;
  let seenAt = 0;
  for (;;) {
    const silent = seen !== null && performance.now() - seenAt >= silentDurations * leaseMs ? seen : null;
    const found: LeaseRow | Taken = await session.write(async (queries) => {
      const taken = await tryTake(queries, holder, leaseMs, silent);
      if ('former' in taken) await assertFree(queries);
      return taken;
    });
    if ('former' in found) return found;
    if (seen !== null && (found.renewed !== seen.renewed || found.token !== seen.token)) {
      throw new StoreError(
        'second_writer',
        `another process is writing to the store in ${session.name}: ${found.holder ?? 'unknown'}`,
      );
    }
    if (seen === null) seenAt = performance.now();
    seen = found;
    await wait(Math.min(Math.max(found.left, 10), leaseMs / renewals));
  }
}

/**
 * Takes the lease if it is free, or still the `silent` one, and returns its tokens; otherwise returns the lease of the
 * process that holds it.
 */
async function tryTake(
  queries: Queries,
  holder: string,
  leaseMs: number,
  silent: LeaseRow | null,
): Promise<Taken | LeaseRow> {
  // This row lock conflicts with the row lock of every commit. Once it is granted, no commit of the previous writer
  // is in progress.
  const [row] = await queries.rows<LeaseRow>(
    `SELECT token, holder, renewed_at::text AS renewed,
     CASE WHEN expires_at = '-infinity' THEN 0
     ELSE greatest(0, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000))::bigint END AS "left"
     FROM store FOR UPDATE`,
  );
  if (!row) throw new StoreError('damaged', 'the table "store" has no row');
  const isSilent = row.token === silent?.token && row.renewed === silent.renewed;
  if (row.left > 0 && !isSilent) return row;
  const [taken] = await queries.rows<{ token: number }>(
    `UPDATE store SET token = ${nextToken('token')}, holder = $1, renewed_at = clock_timestamp(),
     expires_at = clock_timestamp() + $2 * interval '1 millisecond' RETURNING token`,
    [holder, leaseMs],
  );
  if (!taken) throw new StoreError('damaged', 'the table "store" has no row');
  return { token: taken.token, former: row.token };
}

/** First schema version with the table `succession`. */
export const successionVersion = 2;

/** Number of the registration that this process has taken, or the end of the registration of another process. */
type Registration = { readonly number: number } | { readonly expires: string };

/** Registration of this process as the only standby of a store. It is renewed until it is released. */
export class StandbyPlace {
  readonly number: number;
  readonly #session: Session;
  readonly #timer: NodeJS.Timeout;
  /** False once another process has become the standby. */
  isHeld = true;

  private constructor(session: Session, number: number, leaseMs: number) {
    this.#session = session;
    this.number = number;
    const limits = { statementMs: leaseMs, replyMs: leaseMs };
    // A renewal that the server receives after the release must not extend the registration again.
    const sql = `UPDATE succession SET standby_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
      WHERE standby = $1 AND standby_expires_at > '-infinity'`;
    let isRenewing = false;
    this.#timer = setInterval(() => {
      if (isRenewing) return;
      isRenewing = true;
      session
        .write((queries) => queries.run(sql, [number, leaseMs]), limits)
        .then((count) => {
          this.isHeld &&= count > 0;
        })
        // Ignore the error: the next renewal either succeeds or detects that another process is the standby.
        .catch(() => undefined)
        .finally(() => {
          isRenewing = false;
        });
    }, leaseMs / renewals).unref();
  }

  /**
   * Registers this process as the standby. If another process is registered, waits until its registration expires, but
   * at most two lease durations, and throws `second_writer` as soon as that process renews it.
   */
  static async take(session: Session, holder: string, leaseMs: number): Promise<StandbyPlace> {
    const sql = `UPDATE succession SET standby = ${nextToken('standby')}, standby_holder = $1, standby_ready = false,
      standby_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
      WHERE standby_expires_at <= clock_timestamp() OR standby_expires_at::text = $3 RETURNING standby AS number`;
    const look = 'SELECT standby_expires_at::text AS expires FROM succession';
    let seenAt = 0;
    for (let seen: string | null = null; ; await wait(leaseMs / 4)) {
      const silent = performance.now() - seenAt >= silentDurations * leaseMs ? seen : null;
      const found = await session.write(async (queries): Promise<Registration | undefined> => {
        const [taken] = await queries.rows<{ number: number }>(sql, [holder, leaseMs, silent]);
        return taken ?? (await queries.rows<{ expires: string }>(look))[0];
      });
      if (found && 'number' in found) return new StandbyPlace(session, found.number, leaseMs);
      const expires: string | null = found?.expires ?? null;
      if (seen !== null && expires !== seen) {
        throw new StoreError('second_writer', 'this store already has a standby; a store can have only one');
      }
      if (seen === null) seenAt = performance.now();
      seen = expires;
    }
  }

  /** Records that this standby can replace the writer without causing a gap. */
  async ready(): Promise<void> {
    const sql = 'UPDATE succession SET standby_ready = true WHERE standby = $1';
    await this.#session.write((queries) => queries.run(sql, [this.number]));
  }

  /** Ends the registration, so that the next standby does not have to wait. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    const sql = "UPDATE succession SET standby_ready = false, standby_expires_at = '-infinity' WHERE standby = $1";
    // Ignore errors: without a connection the registration expires by itself.
    await this.#session.write((queries) => queries.run(sql, [this.number])).catch(() => undefined);
  }
}
