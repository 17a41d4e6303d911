import { inputLimits } from '../input/limits.ts';
import type { ConnectionBounds } from './connections/connection-table.ts';

/** Limits below HTTP; each protects the other readers from one slow or greedy client. */
export const httpLimits = {
  /** Target and headers together, in bytes. */
  maxHeaderBytes: inputLimits.httpRequest.bytes,
  maxHeadersCount: inputLimits.httpRequest.fields,
  /** The headers of a request must have arrived within this, in milliseconds. */
  headersTimeoutMs: 10_000,
  /** A whole request must have arrived within this. */
  requestTimeoutMs: 20_000,
  /** An idle connection is kept for longer than the proxies in front keep theirs. */
  keepAliveTimeoutMs: 75_000,
  checkEveryMs: 1_000,
} as const;

/** Bounds of the connections of a server that is given no others. */
export const defaultConnectionBounds: ConnectionBounds = { total: 16_384, perClient: null, stallMs: 15_000 };
