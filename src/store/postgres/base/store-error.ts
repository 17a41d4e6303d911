import { StoreError, type StoreErrorCode } from '../../errors.ts';

/** Codes of the port by SQLSTATE, or by its class of two characters. */
const codes: Readonly<Record<string, StoreErrorCode>> = {
  // Serialization failures and deadlocks, and queries that recovery on a standby cancelled.
  '40': 'busy',
  // Lock timeouts, and statements that exceed their time.
  '55P03': 'busy',
  '57014': 'busy',
  // Sessions that waited too long within a transaction.
  '25P03': 'busy',
  '25P04': 'busy',
  '53100': 'disk_full',
  '53': 'busy',
  // Damaged data and indexes.
  XX001: 'damaged',
  XX002: 'damaged',
  '58': 'io_failed',
  // Failed connections, and servers that stop or start.
  '08': 'unreachable',
  '57': 'unreachable',
  // A standby accepts no writes: the primary changed.
  '25006': 'unreachable',
};

/** Codes of failed connections. */
const connectionCodes = /^(?:E[A-Z]+|ERR_(?:SSL|TLS).*|CERT_.*|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO_VERIFY.*)$/;

/** Converts any thrown value to an error of the port. The message contains no parameter of a query. */
export function storeError(error: unknown, place: string): StoreError {
  if (error instanceof StoreError) return error;
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

/** Returns the SQLSTATE or the system's code of an error; null if it has none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/**
 * Returns true if recovery on a standby cancelled a statement or ended its connection, because the statement needed rows
 * or locks that a replicated change removes. The same statement may succeed at once.
 */
export function isRecoveryConflict(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  const code = codeOf(cause);
  // 40001 and 40P01 have no other cause in a transaction that only reads. A cancelled statement may have others.
  if (code === '40001' || code === '40P01') return true;
  return code === '57014' && cause instanceof Error && /recovery/i.test(cause.message);
}
