import { setTimeout as wait } from 'node:timers/promises';
import { StoreError } from '../../errors.ts';
import type { StoreProcess, StoreProcesses } from '../../standby/standby.ts';
import { nextToken, renewals } from './lease.ts';
import type { Queries, Session } from './session.ts';

/** First schema version with the table `succession`. */
export const successionVersion = 2;

/**
 * Returns a check for the transaction that takes the lease. The check throws `second_writer` if a ready standby other
 * than `own` is about to become the writer: only the standby can take over without a gap.
 */
export function succession(own: number | null): (queries: Queries) => Promise<void> {
  return async (queries) => {
    const [row] = await queries.rows<{ holder: string | null }>(
      `SELECT standby_holder AS holder FROM succession
       WHERE standby_ready AND standby_expires_at > clock_timestamp() AND standby IS DISTINCT FROM $1`,
      [own],
    );
    if (row) throw new StoreError('second_writer', `the standby is becoming the writer: ${row.holder ?? 'unknown'}`);
  };
}

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
    const sql = `UPDATE succession SET standby_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
      WHERE standby = $1`;
    this.#timer = setInterval(() => {
      session
        .write((queries) => queries.run(sql, [number, leaseMs]), limits)
        .then((count) => {
          this.isHeld &&= count > 0;
        })
        // Ignore the error: the next renewal either succeeds or detects that another process is the standby.
        .catch(() => undefined);
    }, leaseMs / renewals).unref();
  }

  /**
   * Registers this process as the standby. If another process is registered, waits until its registration expires, and
   * throws `second_writer` as soon as that process renews it.
   */
  static async take(session: Session, holder: string, leaseMs: number): Promise<StandbyPlace> {
    const sql = `UPDATE succession SET standby = ${nextToken('standby')}, standby_holder = $1, standby_ready = false,
      standby_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
      WHERE standby_expires_at <= clock_timestamp() RETURNING standby AS number`;
    const look = 'SELECT standby_expires_at::text AS expires FROM succession';
    for (let seen: string | null = null; ; await wait(leaseMs / 4)) {
      const found = await session.write(async (queries) => {
        const [taken] = await queries.rows<{ number: number }>(sql, [holder, leaseMs]);
        return taken ?? (await queries.rows<{ expires: string }>(look))[0];
      });
      if (found && 'number' in found) return new StandbyPlace(session, found.number, leaseMs);
      const expires: string | null = found?.expires ?? null;
      if (seen !== null && expires !== seen) {
        throw new StoreError('second_writer', 'this store already has a standby; a store can have only one');
      }
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

interface ProcessesRow {
  readonly writing: boolean;
  readonly token: number;
  readonly holder: string | null;
  readonly renewed: string;
  readonly ready: boolean;
  readonly standing: boolean;
  readonly standby: number;
  readonly standbyHolder: string | null;
  readonly standbyReady: boolean;
  readonly standbyExpires: string;
}

/** Returns the writer and the standby; each is null if no process holds an unexpired lease or registration. */
export async function processesIn(queries: Queries): Promise<StoreProcesses> {
  const [row] = await queries.rows<ProcessesRow>(
    `SELECT expires_at > clock_timestamp() AS writing, token, holder, renewed_at::text AS renewed,
     coalesce(writer_ready = token, false) AS ready, standby_expires_at > clock_timestamp() AS standing, standby,
     standby_holder AS "standbyHolder", standby_ready AS "standbyReady", standby_expires_at::text AS "standbyExpires"
     FROM store, succession`,
  );
  if (!row) throw new StoreError('damaged', 'the table "store" has no row');
  const processOf = (token: number, ready: boolean, holder: string | null, beat: string): StoreProcess => ({
    ...{ token: String(token), state: ready ? 'ready' : 'opening', pid: null, name: holder ?? 'unknown', beat },
  });
  return {
    writer: row.writing ? processOf(row.token, row.ready, row.holder, row.renewed) : null,
    standby: row.standing ? processOf(row.standby, row.standbyReady, row.standbyHolder, row.standbyExpires) : null,
  };
}

/**
 * Asks the writer with the given token to stop. The writer checks for such requests whenever it renews its lease.
 * Returns false if another process has become the writer.
 */
export async function askToStop(session: Session, token: string): Promise<boolean> {
  const sql = 'UPDATE succession SET hand_over = $1 WHERE (SELECT token FROM store) = $1';
  return (await session.write((queries) => queries.run(sql, [Number(token)]))) > 0;
}
