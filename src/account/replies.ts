import { type AccountErrorCode, accountErrorBody, accountErrorTable } from '../contract/errors.ts';
import { formatMicros } from '../contract/timestamp.ts';
import { allowedMethods, commonHeaders, type HeaderList, json, type Reply } from '../http/reply.ts';
import type { AccountInterval } from '../store/port.ts';

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
