/** Why no connection came about. */
export type ConnectFailure =
  /** Not an address this guard connects to at all: its syntax or scheme. */
  | 'bad_url'
  /** Private, loopback or otherwise not public. */
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  /** The peer answered, but did not speak websocket. */
  | 'handshake'
  /** The peer answered the handshake with a status of its own; redirects are never followed. */
  | 'handshake_status'
  | 'timeout'
  /** Our own limits: no request was sent. */
  | 'busy'
  | 'aborted';

/** A connection that did not come about. The message is one line and names the host without credentials or query. */
export class ConnectError extends Error {
  readonly kind: ConnectFailure;
  /** The status of `handshake_status`, else null. */
  readonly status: number | null;
  /** The XRPC name of the error that a refusal of the handshake carries. */
  readonly error: string | null;
  /** Whether trying the same again later can help. */
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
