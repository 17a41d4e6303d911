import { type AccountErrorCode, accountErrorBody, accountErrorTable } from '../contract/errors.ts';
import { formatMicros } from '../contract/timestamp.ts';
import { allowedMethods, commonHeaders, type HeaderList, json, type Reply, type StreamedReply } from '../http/reply.ts';
import type { AccountInterval } from '../store/port.ts';

/** A request in the form that a route of the account surface receives. */
export interface AccountRequest {
  /** Query string, without its question mark. */
  readonly search: string;
  readonly acceptEncoding: string | undefined;
  readonly acceptLanguage?: string | undefined;
  /** Time of the request, in milliseconds since 1970. */
  readonly now: number;
  /** Address of the client. */
  readonly client: string;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /**
   * Reserves memory for a response before it is built. Returns false if unsent responses already use too much memory.
   */
  readonly reserve: (bytes: number) => boolean;
}

/** A complete response, or a response whose body is produced while it is sent. */
export type AccountReply = Reply | StreamedReply;

/** Handler of a route. If it rejects with an error that `refusalOf` maps, the application sends the error response. */
export type AccountRoute = (request: AccountRequest) => AccountReply | Promise<AccountReply>;

/** Key of the page for paths without a route. It never equals a path, because every path begins with a slash. */
export const missingPage = 'missing';

/** Headers of every response of the account surface, including pages: no caching, no indexing, no referrer. */
export const privateHeaders: HeaderList = [
  'Cache-Control',
  'no-store',
  'X-Robots-Tag',
  'noindex, nofollow',
  'Referrer-Policy',
  'no-referrer',
];

/** Headers of every response of the account surface except pages. */
export const accountCommonHeaders: HeaderList = [
  ...commonHeaders('ETag, Last-Modified, Cache-Control, Age, Date, Retry-After, Content-Disposition'),
  ...privateHeaders,
];

/** Optional fields of an error response. */
interface ErrorDetails {
  /** Specific message that replaces the general message of the error code. */
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  readonly intervals?: readonly AccountInterval[];
}

/** Returns the error response for a code. */
export function accountError(code: AccountErrorCode, more: ErrorDetails = {}): Reply {
  const { message, retryAfterSeconds, intervals } = more;
  const body = accountErrorBody(
    code,
    intervals?.map(({ start, end, rows }) => ({ start: formatMicros(start), end: formatMicros(end), rows })),
    message,
  );
  return json(accountErrorTable[code].status, body, [
    ...accountCommonHeaders,
    ...(retryAfterSeconds === undefined ? [] : ['Retry-After', String(Math.ceil(retryAfterSeconds))]),
    ...(code === 'method_not_allowed' ? ['Allow', allowedMethods] : []),
  ]);
}
