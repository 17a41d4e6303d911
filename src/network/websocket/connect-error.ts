/** Reason why a connection could not be opened. */
export type ConnectFailure =
  /** The guard does not admit the URL, because of its syntax or scheme. */
  | 'bad_url'
  /** The address is private, loopback or otherwise not public. */
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  /** The peer responded with bytes that are not a websocket handshake. */
  | 'handshake'
  /** The peer responded to the handshake with a status other than 101; redirects are never followed. */
  | 'handshake_status'
  | 'timeout'
  /** A limit of this process prevented the request. */
  | 'busy'
  | 'aborted';

/**
 * Error for a connection that could not be opened. The message is one line and names the host without credentials or
 * query.
 */
export class ConnectError extends Error {
  readonly kind: ConnectFailure;
  /** HTTP status of a `handshake_status` failure, or null for other failures. */
  readonly status: number | null;
  /** XRPC error name in the response that refused the handshake, or null if there is none. */
  readonly error: string | null;
  /** Text of the response that refused the handshake; empty if there is none or it is too long. Never show it. */
  readonly answer: string;
  /** True if a later attempt can succeed. */
  readonly retryable: boolean;

  constructor(
    kind: ConnectFailure,
    message: string,
    status: number | null = null,
    error: string | null = null,
    answer = '',
  ) {
    super(message);
    this.name = 'ConnectError';
    this.kind = kind;
    this.status = status;
    this.error = error;
    this.answer = answer;
    this.retryable = retryable(kind, status);
  }
}

function retryable(kind: ConnectFailure, status: number | null): boolean {
  switch (kind) {
    case 'bad_url':
    case 'refused_address':
    case 'aborted':
      return false;
    case 'handshake_status':
      return status !== null && (status >= 500 || status === 408 || status === 425 || status === 429);
    case 'dns':
    case 'connect':
    case 'tls':
    case 'handshake':
    case 'timeout':
    case 'busy':
      return true;
  }
}
