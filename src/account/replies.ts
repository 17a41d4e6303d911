import { type AccountErrorCode, accountErrorBody, accountErrorTable } from '../contract/account-errors.ts';
import { formatMicros } from '../contract/timestamp.ts';
import { allowedMethods, commonHeaders, type HeaderList } from '../http/headers.ts';
import { json, type Reply } from '../http/reply.ts';
import type { AccountInterval } from '../store/port.ts';

/** On every response of this surface, pages included: it is stored, indexed and told to nobody. */
export const privateHeaders: HeaderList = [
  'Cache-Control',
  'no-store',
  'X-Robots-Tag',
  'noindex, nofollow',
  'Referrer-Policy',
  'no-referrer',
];

/** Headers of every response that is no page. */
export const accountCommonHeaders: HeaderList = [
  ...commonHeaders('ETag, Last-Modified, Cache-Control, Age, Date, Retry-After, Content-Disposition'),
  ...privateHeaders,
];

/** The Error object of a code, with what goes with it. */
export function accountError(
  code: AccountErrorCode,
  more: { readonly retryAfterSeconds?: number; readonly intervals?: readonly AccountInterval[] } = {},
): Reply {
  const { retryAfterSeconds, intervals } = more;
  const body = accountErrorBody(
    code,
    intervals?.map(({ start, end, rows }) => ({ start: formatMicros(start), end: formatMicros(end), rows })),
  );
  return json(accountErrorTable[code].status, body, [
    ...accountCommonHeaders,
    ...(retryAfterSeconds === undefined ? [] : ['Retry-After', String(Math.ceil(retryAfterSeconds))]),
    ...(code === 'method_not_allowed' ? ['Allow', allowedMethods] : []),
  ]);
}
