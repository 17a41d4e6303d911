import type { IncomingMessage } from 'node:http';

/** The parts of a request that a read-only service uses. No other part of a request can change the response. */
export interface ReadRequest {
  readonly method: string;
  /** The unmodified request target, in origin form or absolute form. */
  readonly target: string;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
  /** Only pages for people depend on this header. */
  readonly acceptLanguage?: string | undefined;
  /** Only the response to a path that does not exist depends on this header. */
  readonly accept?: string | undefined;
  /** Address of the client, if the server determines addresses. */
  readonly client?: string;
  /** Reserves memory for the response before it is built; returns false if unsent responses use too much memory. */
  readonly reserve?: (bytes: number) => boolean;
}

/** A request for a file, or for a range of its bytes. */
export interface FileRequest extends ReadRequest {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  /** Address of the client, which is used for limits and never logged. */
  readonly peer: string;
}

/** Converts a request for a file that node:http parsed. */
export function fileRequest(message: IncomingMessage, peer: string): FileRequest {
  const { range, 'if-range': ifRange } = message.headers;
  return { ...readRequest(message), range, ifRange: typeof ifRange === 'string' ? ifRange : undefined, peer };
}

/** Converts a request that node:http parsed. */
export function readRequest(message: IncomingMessage): ReadRequest {
  const { method = '', url = '', headers } = message;
  return {
    method,
    target: url,
    ifNoneMatch: headers['if-none-match'],
    acceptEncoding: headers['accept-encoding'] as string | undefined,
    acceptLanguage: headers['accept-language'],
    accept: headers.accept,
  };
}
