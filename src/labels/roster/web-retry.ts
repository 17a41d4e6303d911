import type { Resolution } from '../../network/identity/identity.ts';

/** A failed read of a did:web document. */
interface WebFailure {
  /** Number of consecutive failures, this one included. */
  readonly failures: number;
  /** True if the labeler is enrolled, has responded, and is seeded or established. */
  readonly isInUse: boolean;
  readonly answer: Extract<Resolution, { kind: 'failed' }>['answer'];
}

/** Interval after the first failed read of a document, in milliseconds. */
const firstRetryMs = 10_000;
/** Number of reads at the shortest interval for a labeler in use, and the longest interval in units of the shortest. */
const inUseRetries = 15;

/**
 * Returns the time until the next read of a did:web document, in milliseconds. The intervals grow up to `refreshMs`, so
 * that a host that never serves the document again is requested once a day. A labeler in use may change its key or its
 * endpoint, so its document is read at `retryMs` during a short outage, and later at 15 times that interval. A
 * `Retry-After` delays the read up to the longest of these intervals.
 */
export function webRetryAfter(
  { failures, isInUse, answer }: WebFailure,
  { retryMs, refreshMs }: { readonly retryMs: number; readonly refreshMs: number },
): number {
  const longest = isInUse ? inUseRetries * retryMs : refreshMs;
  const requested = answer.kind === 'status' ? (answer.retryAfterMs ?? 0) : 0;
  return Math.min(
    longest,
    Math.max(requested, isInUse ? inUseWait(failures, retryMs) : growingWait(failures, retryMs)),
  );
}

function inUseWait(failures: number, retryMs: number): number {
  return failures <= inUseRetries ? retryMs : inUseRetries * retryMs;
}

/** The first failure is often a timeout, which should not delay a new labeler by a minute. */
function growingWait(failures: number, retryMs: number): number {
  return failures === 1 ? Math.min(retryMs, firstRetryMs) : retryMs * 2 ** (failures - 2);
}
