/** Headers that every response of the public servers carries, as flat name and value lists. */

/** The methods that a read-only service answers. */
export const allowedMethods = 'GET, HEAD, OPTIONS';

/** A flat list of header names and values, as `ServerResponse.writeHead` takes it. */
export type HeaderList = readonly string[];

/** On every response, errors and 304 included: open to every origin, without credentials, and whole: no ranges. */
export function commonHeaders(exposed: string): HeaderList {
  return [
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Expose-Headers',
    exposed,
    'X-Content-Type-Options',
    'nosniff',
    'Accept-Ranges',
    'none',
  ];
}

/** The answer to a preflight; also what OPTIONS says on any path. */
export const preflightHeaders: HeaderList = [
  'Allow',
  allowedMethods,
  'Access-Control-Allow-Methods',
  allowedMethods,
  'Access-Control-Allow-Headers',
  'If-None-Match',
  'Access-Control-Max-Age',
  '86400',
];

let second = Number.NaN;
let text = '';

/** An HTTP date (RFC 9110, section 5.6.7) of an instant in milliseconds since 1970; kept for its second. */
export function httpDate(milliseconds: number): string {
  const now = Math.floor(milliseconds / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}
