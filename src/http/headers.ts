/** Value of the `Allow` header of a read-only service. */
export const allowedMethods = 'GET, HEAD, OPTIONS';

/** A flat list of header names and values, in the format of `ServerResponse.writeHead`. */
export type HeaderList = readonly string[];

/**
 * Returns the headers of every response, including errors and 304. The headers allow pages of any origin to read the
 * response and its headers named in `exposed`, and declare that byte ranges are not supported.
 */
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

/**
 * Returns the headers of the response to OPTIONS, which includes CORS preflight requests. `requestHeaders` lists the
 * headers that a page of another origin may send.
 */
export function preflightHeaders(requestHeaders: string): HeaderList {
  return [
    'Allow',
    allowedMethods,
    'Access-Control-Allow-Methods',
    allowedMethods,
    'Access-Control-Allow-Headers',
    requestHeaders,
    'Access-Control-Max-Age',
    '86400',
  ];
}

let second = Number.NaN;
let text = '';

/** Formats milliseconds since 1970 as an HTTP date (RFC 9110, section 5.6.7). The text is cached for one second. */
export function httpDate(milliseconds: number): string {
  const now = Math.floor(milliseconds / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}
