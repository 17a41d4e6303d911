/** Reason why a connection could not be opened. */
export type ConnectFailure =
  /** The guard does not admit the URL: its syntax or scheme. */
  | 'bad_url'
  /** Private, loopback or otherwise not public. */
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  /** The peer responded, but not as a websocket server. */
  | 'handshake'
  /** The peer responded to the handshake with another status; redirects are never followed. */
  | 'handshake_status'
  | 'timeout'
  /** A limit of this process: no request was sent. */
  | 'busy'
  | 'aborted';

/** A connection that could not be opened. The message is one line and names the host without credentials or query. */
export class ConnectError extends Error {
  readonly kind: ConnectFailure;
  /** The status of `handshake_status`, else null. */
  readonly status: number | null;
  /** The XRPC name of the error in a refusal of the handshake. */
  readonly error: string | null;
  /** True if a later attempt can succeed. */
  readonly retryable: boolean;

  constructor(kind: ConnectFailure, message: string, status: number | null = null, error: string | null = null) {
    super(message);
    this.name = 'ConnectError';
    this.kind = kind;
    this.status = status;
    this.error = error;
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
