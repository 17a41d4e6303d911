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
 * Longest of the growing intervals, in units of `retryMs`. It bounds how long a document stays unread after an outage of
 * this machine's own network.
 */
const maxGrowth = 64;

/**
 * Returns the time until the next read of a did:web document, in milliseconds. The intervals grow up to 64 times
 * `retryMs`. A labeler in use may change its key or its endpoint, so its document is read at `retryMs` during a short
 * outage, and later at 15 times that interval. A `Retry-After` delays the read up to `refreshMs`, or up to the longest
 * of these intervals for a labeler in use.
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
  if (failures === 1) return Math.min(retryMs, firstRetryMs);
  return retryMs * Math.min(maxGrowth, 2 ** (failures - 2));
}
