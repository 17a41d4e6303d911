import { inputLimits } from '../input/limits.ts';
import type { ConnectionBounds } from './connections/connection-table.ts';

/** Limits of the HTTP server on headers and connections. They protect other clients from a slow or greedy client. */
export const httpLimits = {
  /** Maximum size of the request target and headers together, in bytes. */
  maxHeaderBytes: inputLimits.httpRequest.bytes,
  /** Maximum number of header fields of a request. */
  maxHeadersCount: inputLimits.httpRequest.fields,
  /** Maximum time until the headers of a request have arrived, in milliseconds. */
  headersTimeoutMs: 10_000,
  /** Maximum time until a complete request has arrived, in milliseconds. */
  requestTimeoutMs: 20_000,
  /**
   * Time after which an idle connection is closed, in milliseconds; longer than the keep-alive time of common proxies.
   */
  keepAliveTimeoutMs: 75_000,
  /** Interval between two checks of the timeouts above, in milliseconds. */
  checkEveryMs: 1_000,
} as const;

/** Default limits on the connections of a server. */
export const defaultConnectionBounds: ConnectionBounds = { total: 16_384, perClient: null, stallMs: 15_000 };
