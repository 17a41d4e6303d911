import { setTimeout as waitFor } from 'node:timers/promises';
import { OperatorError } from '../../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';

/** Meaning of an error that PostgreSQL, a pooler or the driver reports, and the reaction of the store. */
interface SqlState {
  readonly meaning: string;
  /**
   * Action while a connection is made. `repeat`: the attempt is repeated, on the same connection if the server kept it.
   * `next`: the next server of the URL is tried. `round`: the same, and if no server can be used, all of them are tried
   * again. `report`: the error is reported without trying other servers.
   */
  readonly connecting: 'repeat' | 'round' | 'next' | 'report';
  /**
   * Action in a read. `repeat`: the read is repeated up to `maxAttempts` times in total. `once`: it is repeated once, on
   * another connection. A transaction of any kind whose work has not begun is repeated in both cases.
   */
  readonly reading: 'repeat' | 'once' | 'report';
  /** True if a change is repeated as a read is: nothing of its transaction is stored, and it may well succeed. */
  readonly repeatsChange?: boolean;
  /** Store error that is reported if nothing helps. */
  readonly error: StoreErrorCode;
  /** True if the connection can be used again, unless the error is FATAL. */
  readonly isKept: boolean;
}

const cancelled = { connecting: 'repeat', reading: 'repeat', error: 'busy', isKept: true } as const;
const tooSlow = { connecting: 'repeat', reading: 'report', error: 'busy', isKept: true } as const;
const rolledBack = { reading: 'once', repeatsChange: true, isKept: false } as const;
const ended = { connecting: 'round', reading: 'once', error: 'unreachable', isKept: false } as const;
const full = { connecting: 'round', reading: 'report', error: 'busy', isKept: true } as const;
const elsewhere = { connecting: 'next', reading: 'report', error: 'unreachable', isKept: false } as const;
const broken = { connecting: 'report', reading: 'report', isKept: true } as const;

/**
 * Errors by SQLSTATE, or by SQLSTATE class (its first two characters). `docs/operations/postgres.md` has the same table. An
 * error that is not listed is a fault of the program or of the set-up (`unexpected`).
 */
export const sqlStates: Readonly<Record<string, SqlState>> = {
  '40001': { meaning: 'recovery on a standby cancelled the statement or ended the connection', ...cancelled },
  '40P01': { meaning: 'a deadlock, on a standby with its recovery', ...cancelled },
  '40': { meaning: 'the server rolled the transaction back', ...tooSlow },
  '55P03': { meaning: 'a lock was not granted in time', ...tooSlow },
  '57014': { meaning: 'a statement took too long, or an operator cancelled it', ...tooSlow },
  '25P03': { meaning: 'a transaction was idle for too long', ...tooSlow, ...rolledBack },
  '25P04': { meaning: 'a transaction took too long', ...tooSlow, isKept: false },
  '53300': { meaning: 'the server or the role has no connection left', ...full, isKept: false },
  '53100': { meaning: 'the disk of the server is full', ...broken, error: 'disk_full' },
  '53': { meaning: 'the server lacks memory or another resource', ...full },
  '57P01': { meaning: 'the server shuts down, or an operator ended the connection', ...ended },
  '57P02': { meaning: 'the server restarts because one of its processes crashed', ...ended },
  '57P03': { meaning: 'the server starts, shuts down or recovers', ...elsewhere, connecting: 'round' },
  '57P04': { meaning: 'the database was dropped', ...elsewhere },
  '57P05': { meaning: 'the connection was idle for too long', ...ended },
  '57': { meaning: 'an operator intervened', ...elsewhere },
  '25006': { meaning: 'the server accepts no changes, because it has become a standby', ...elsewhere },
  '08001': { meaning: 'no connection: refused, unknown host, failed TLS', ...elsewhere },
  '08': { meaning: 'the connection was lost, or a pooler lost or refused it', ...ended },
  XX001: { meaning: 'data on the disk is damaged', ...broken, error: 'damaged' },
  XX002: { meaning: 'an index is damaged', ...broken, error: 'damaged' },
  '58': { meaning: 'the operating system of the server reports a failure', ...broken, error: 'io_failed' },
};

/** Waits a number of milliseconds. */
export type Wait = (ms: number) => Promise<unknown>;

/**
 * Maximum number of attempts of one connection, choice or read. A standby that replays one change of the schema after
 * the other cancels up to half of all attempts: with 8 attempts, one of some thousand connections failed.
 */
const maxAttempts = 16;
/** Delay before the second attempt, in milliseconds; doubles for each further attempt, up to `maxDelayMs`. */
const firstDelayMs = 20;
const maxDelayMs = 160;

/**
 * Runs work until it succeeds, `maxAttempts` times at most. `mayRepeat` decides after each failed attempt. The delays
 * grow, so that several processes do not keep a server busy that has just cancelled their statements.
 */
export async function repeated<T>(
  work: () => Promise<T>,
  mayRepeat: (error: unknown) => boolean,
  wait: Wait = waitFor,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || !mayRepeat(error)) throw error;
      await wait(Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs));
    }
  }
}

/** Error of a connection that the server or the network ended without a reason of its own. */
export class LostConnection extends Error {
  readonly code = '08006';

  constructor(options?: ErrorOptions) {
    super('the connection was lost', options);
  }
}

/** Returns the entry of the table for an error or for the cause of a store error, or null if there is none. */
export function stateOf(error: unknown): SqlState | null {
  const cause = error instanceof StoreError ? error.cause : error;
  const code = codeOf(cause);
  if (code === null) return isLost(cause) ? (sqlStates['08'] ?? null) : null;
  if (code === '57014' && isRecoveryConflict(cause)) return sqlStates['40001'] ?? null;
  const state = sqlStates[sqlStateOf(code)] ?? sqlStates[sqlStateOf(code).slice(0, 2)];
  return state ?? null;
}

/** Returns true for an error by which the driver reports that a reply did not arrive in time. Nothing is repeated then. */
export function isLate(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === null && /timeout expired|Query read timeout/i.test(error.message);
}

/**
 * Returns the reason for which a statement failed. If the server ended the connection between two statements, only
 * `failure`, the error of the connection, states why.
 */
export function reasonOf(failure: unknown, error: unknown): unknown {
  const isKnown = codeOf(error) !== null && stateOf(error) !== null && !(error instanceof LostConnection);
  return isKnown || isLate(error) || codeOf(failure) === null ? error : failure;
}

/** Returns true if the connection can be used again after an error of a statement or of the caller. */
export function isKept(error: unknown): boolean {
  if (error instanceof StoreError) return error.code !== 'unexpected' && error.code !== 'unreachable';
  // The server ends the connection after a FATAL error, whatever its code.
  if (error instanceof Error && 'severity' in error && error.severity === 'FATAL') return false;
  // An error without a SQLSTATE comes from the driver or the system, and leaves the connection in an unknown state.
  const code = codeOf(error);
  if (code === null || !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('E')) return false;
  // Other errors of class 25 are those of a transaction in an unknown state.
  return stateOf(error)?.isKept ?? !code.startsWith('25');
}

/** Returns the SQLSTATE or system error code of an error, or null if the error has no code. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Error codes of a connection that existed: the other side closed it. */
const lostCodes = /^(?:ECONNRESET|ECONNABORTED|EPIPE)$/;
/** Error codes of failed connections: codes of the system, TLS errors and certificate errors. */
const connectionCodes = /^(?:E[A-Z]+|ERR_(?:SSL|TLS).*|CERT_.*|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO_VERIFY.*)$/;

/** Returns the SQLSTATE for a code of the system, and every other code unchanged. */
function sqlStateOf(code: string): string {
  if (lostCodes.test(code)) return '08006';
  return connectionCodes.test(code) ? '08001' : code;
}

/** Returns true for an error by which the driver reports that the connection ended. */
function isLost(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Connection terminated|connection error|Client was closed|not queryable/i.test(error.message)
  );
}

/**
 * Returns true if recovery on a standby cancelled a statement. PostgreSQL 16 and later use the code of every cancelled
 * statement; the name of the server's function, unlike the message, is not translated.
 */
function isRecoveryConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const routine = 'routine' in error ? String(error.routine) : '';
  return /recovery_?conflict/i.test(routine) || /recovery/i.test(error.message);
}

/**
 * Converts any thrown value to a `StoreError`; an `OperatorError` becomes `misconfigured`. The message contains no query
 * parameters.
 */
export function storeError(error: unknown, place: string): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof OperatorError)
    return new StoreError('misconfigured', `${place}: ${error.message}`, { cause: error });
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const found = isLate(error) ? 'unreachable' : (stateOf(error)?.error ?? 'unexpected');
  return new StoreError(found, code === null ? `${place}: ${text}` : `${place}: ${text} (${code})`, { cause: error });
}
