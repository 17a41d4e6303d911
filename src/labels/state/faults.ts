import type { LabelerProblem } from '../../contract/labeler-vocabulary.ts';
import type { JsonAnswer } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/connect-error.ts';
import type { Fault } from './reading-events.ts';

/** Failure of a source, as shown by a response that is not a page, or a connection that could not be established. */
export interface SourceFault {
  /** Kind of the failure, or null if a limit of this instrument caused it, which is no evidence about the source. */
  readonly fault: Fault | null;
  /** Reason for the log: a word or a number, never a text of the labeler. */
  readonly why: string;
  /** Wait that the labeler requested, in milliseconds, or null if it requested none. */
  readonly retryAfterMs: number | null;
}

/** Classifies an HTTP response that is not the requested JSON. */
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

/** Classifies an error of opening a websocket. */
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
  // A redirect counts as a failure, because it is not followed, as does a status of 200, because it is not a successful
  // websocket handshake.
  return fault('rejecting', String(status));
}

function fault(kind: Fault | null, why: string): SourceFault {
  return { fault: kind, why, retryAfterMs: null };
}

/**
 * Combines the failures of both transports. Pages out of order take precedence, because the source was at least read. A
 * transient failure of one transport leaves the result of that transport open. A refusal takes precedence over an
 * unsupported method. `stream` is null if the stream opened and sent nothing.
 *
 * A transport that a limit of this instrument blocked is no evidence about the source: without a poll the result stays
 * open, and without a stream attempt it is unknown whether the source also rejects streams.
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
 * pages determines the problem.
 */
export function problemOf(stream: SourceFault | null, poll: SourceFault): LabelerProblem {
  const worse = worseOf(stream, poll);
  const shown = poll.fault === worse || stream === null ? poll : stream;
  const known = problemOfReason.get(shown.why);
  if (known !== undefined) return known;
  if (/^\d{3}$/.test(shown.why)) return shown.fault === 'failed' ? 'server_error' : 'not_a_label_service';
  return 'unknown';
}
