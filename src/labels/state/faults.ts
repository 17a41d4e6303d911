import type { LabelerProblem } from '../../contract/vocabulary.ts';
import type { JsonAnswer } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import type { Fault } from './reading-events.ts';

/** Failure of an attempt to read a source by one transport. */
export interface SourceFault {
  /**
   * Kind of the failure. Null if the cause is a limit of this instrument or an abort, because neither is evidence
   * about the source.
   */
  readonly fault: Fault | null;
  /** Reason for the log: a word or a number, never text from the labeler. */
  readonly why: string;
  /** Wait that the labeler requested, in milliseconds, or null if it requested none. */
  readonly retryAfterMs: number | null;
}

/** Classifies the outcome of an HTTP request that did not return JSON. */
export function httpFault(answer: Exclude<JsonAnswer, { kind: 'json' }>): SourceFault {
  switch (answer.kind) {
    case 'status':
      return { ...statusFault(answer.status), retryAfterMs: answer.retryAfterMs };
    case 'bad_url':
    case 'refused_address':
      return fault('refusing', answer.kind);
    case 'not_json':
    case 'too_large':
      return fault('rejecting', answer.kind);
    case 'busy':
    case 'aborted':
      return fault(null, answer.kind);
    case 'dns':
    case 'tls':
    case 'connect':
    case 'timeout':
      return fault('failed', answer.kind);
    default:
      return answer satisfies never;
  }
}

/**
 * Classifies an error that occurred while a websocket was opened. An error other than `ConnectError` counts as
 * `failed`.
 */
export function connectFault(error: unknown): SourceFault {
  if (!(error instanceof ConnectError)) return fault('failed', 'unknown');
  switch (error.kind) {
    case 'handshake_status':
      return statusFault(error.status ?? 0);
    case 'bad_url':
    case 'refused_address':
      return fault('refusing', error.kind);
    case 'busy':
    case 'aborted':
      return fault(null, error.kind);
    default:
      return fault('failed', error.kind);
  }
}

function statusFault(status: number): SourceFault {
  if (status === 401 || status === 403) return fault('refusing', String(status));
  if (status === 429 || status === 408 || (status >= 500 && status !== 501)) return fault('failed', String(status));
  // A redirect counts as a rejection, because redirects are not followed. A status of 200 also counts as a rejection,
  // because a successful websocket handshake has another status.
  return fault('rejecting', String(status));
}

function fault(kind: Fault | null, why: string): SourceFault {
  return { fault: kind, why, retryAfterMs: null };
}

/**
 * Combines the failures of both transports into one. Pages out of order take precedence, because the source was at
 * least read. A transient failure is next, because a later attempt may succeed, and then a refusal before a rejection.
 * `stream` is null if the stream opened and sent nothing.
 *
 * Returns null if there is no evidence about the source: a limit of this instrument prevented the poll, or a limit
 * prevented the stream while the poll was rejected, so that the source may still support streams.
 */
export function worseOf(stream: SourceFault | null, poll: SourceFault): Fault | null {
  if (poll.fault === null || (stream?.fault === null && poll.fault === 'rejecting')) return null;
  for (const fault of ['order_unverified', 'failed', 'refusing', 'rejecting'] as const) {
    if (stream?.fault === fault || poll.fault === fault) return fault;
  }
  return null;
}

/** Problems by the reason of a failure. */
const problemOfReason: ReadonlyMap<string, LabelerProblem> = new Map([
  ['bad_url', 'endpoint_not_public'],
  ['refused_address', 'endpoint_not_public'],
  ['not_json', 'not_a_label_service'],
  ['too_large', 'not_a_label_service'],
  ['malformed frames', 'not_a_label_service'],
  ['no order', 'order_unverified'],
  ['dns', 'dns_failed'],
  ['tls', 'tls_failed'],
  ['connect', 'connection_failed'],
  ['handshake', 'connection_failed'],
  ['timeout', 'timed_out'],
  ['408', 'timed_out'],
  ['401', 'authentication_required'],
  ['403', 'authentication_required'],
  ['429', 'rate_limited'],
]);

/**
 * Returns the problem that the failures of both transports show. If both failed in the same way, the failure of the
 * pages determines the problem. Returns `unknown` for a reason that neither the table nor an HTTP status explains.
 */
export function problemOf(stream: SourceFault | null, poll: SourceFault): LabelerProblem {
  const worse = worseOf(stream, poll);
  const shown = poll.fault === worse || stream === null ? poll : stream;
  const known = problemOfReason.get(shown.why);
  if (known !== undefined) return known;
  if (/^\d{3}$/.test(shown.why)) return shown.fault === 'failed' ? 'server_error' : 'not_a_label_service';
  return 'unknown';
}
