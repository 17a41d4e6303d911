import { OperatorError } from '../../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';

/** Store error codes by SQLSTATE, or by SQLSTATE class (its first two characters). */
const codes: Readonly<Record<string, StoreErrorCode>> = {
  // Serialization failures, deadlocks, and queries cancelled by recovery on a standby.
  '40': 'busy',
  // Lock timeouts and statement timeouts.
  '55P03': 'busy',
  '57014': 'busy',
  // Sessions that were idle in a transaction for too long, or whose transaction took too long.
  '25P03': 'busy',
  '25P04': 'busy',
  '53100': 'disk_full',
  '53': 'busy',
  // Corrupted data and indexes.
  XX001: 'damaged',
  XX002: 'damaged',
  '58': 'io_failed',
  // Connection failures, and servers that are starting or shutting down.
  '08': 'unreachable',
  '57': 'unreachable',
  // The server rejects writes because it has become a standby.
  '25006': 'unreachable',
};

/** Error codes of failed connections: codes of the system, TLS errors and certificate errors. */
const connectionCodes = /^(?:E[A-Z]+|ERR_(?:SSL|TLS).*|CERT_.*|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO_VERIFY.*)$/;

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
  if (code === null) {
    const isLost = /Connection terminated|connection error|timeout expired|Query read timeout|Client was closed/i.test(
      text,
    );
    return new StoreError(isLost ? 'unreachable' : 'unexpected', `${place}: ${text}`, { cause: error });
  }
  const found = codes[code] ?? codes[code.slice(0, 2)] ?? (connectionCodes.test(code) ? 'unreachable' : 'unexpected');
  return new StoreError(found, `${place}: ${text} (${code})`, { cause: error });
}

/** Returns the SQLSTATE or system error code of an error, or null if the error has no code. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/**
 * Returns true if recovery on a standby cancelled a statement or ended its connection, because a replicated change
 * conflicted with the rows or locks that the statement needed. An immediate retry may succeed.
 */
export function isRecoveryConflict(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  const code = codeOf(cause);
  // In a read-only transaction, 40001 and 40P01 have no other cause. A cancelled statement may have other causes, so
  // its message is checked.
  if (code === '40001' || code === '40P01') return true;
  return code === '57014' && cause instanceof Error && /recovery/i.test(cause.message);
}
