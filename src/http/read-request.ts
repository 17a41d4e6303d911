import type { IncomingMessage } from 'node:http';

/** Parts of a request that a read-only service uses. `FileRequest` adds the parts that affect only files. */
export interface ReadRequest {
  readonly method: string;
  /** The unmodified request target, in origin form or absolute form. */
  readonly target: string;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
  /** `Accept-Language` header, which affects only pages for people. */
  readonly acceptLanguage?: string | undefined;
  /** `Accept` header, which affects the format of metrics and the response to a path that does not exist. */
  readonly accept?: string | undefined;
  /** Address of the client; absent if the server does not determine addresses. */
  readonly client?: string;
  /** Reserves memory before the response is built. Returns false if unsent responses use too much memory. */
  readonly reserve?: (bytes: number) => boolean;
}

/** A request for a file, or for a range of its bytes. */
export interface FileRequest extends ReadRequest {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  /** Address of the client, which is used for limits and never logged. */
  readonly peer: string;
}

/** Converts a parsed request of node:http to a request for a file. */
export function fileRequest(message: IncomingMessage, peer: string): FileRequest {
  const { range, 'if-range': ifRange } = message.headers;
  return { ...readRequest(message), range, ifRange: typeof ifRange === 'string' ? ifRange : undefined, peer };
}

/** Converts a parsed request of node:http, without the client's address. */
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

const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the path of a request target in origin form or absolute form (RFC 9112, section 3.2), without its query.
 * Returns a target in any other form without its query. Neither decodes nor normalizes the path.
 */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (path.startsWith('/')) return path;
  const absolute = absoluteForm.exec(path);
  if (!absolute) return path;
  return path.slice(absolute[0].length) || '/';
}

/** Returns the part of a path below a base path; null if the path is not below it. */
export function below(base: string, path: string): string | null {
  if (base === '') return path;
  return path.startsWith(base) && path[base.length] === '/' ? path.slice(base.length) : null;
}
