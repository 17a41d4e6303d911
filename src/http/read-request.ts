import type { IncomingMessage } from 'node:http';

/** The parts of a request that a read-only service uses; no other part can change a response. */
export interface ReadRequest {
  readonly method: string;
  /** The request target as it came: origin form or absolute form. */
  readonly target: string;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
  /** Address of the client, where the operator asked for it. */
  readonly client?: string;
  /** Reserves memory for a response before it is made; false where unsent responses hold too much already. */
  readonly reserve?: (bytes: number) => boolean;
}

/** The view of a request that node:http parsed. */
export function readRequest(message: IncomingMessage): ReadRequest {
  const { method = '', url = '', headers } = message;
  return {
    method,
    target: url,
    ifNoneMatch: headers['if-none-match'],
    acceptEncoding: headers['accept-encoding'] as string | undefined,
  };
}
