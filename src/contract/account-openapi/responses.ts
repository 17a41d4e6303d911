import { commonHeaderNames, commonHeaders, named, textHeader } from '../openapi/frame.ts';
import { accountExamples as examples } from './examples.ts';

/** Headers and responses that operations of the account-view API share. */

/** Header components of the OpenAPI document. */
export const headerComponents = {
  ...commonHeaders,
  AccessControlExposeHeaders: textHeader(
    'On every response: the headers that scripts may read.',
    'ETag, Last-Modified, Cache-Control, Age, Date, Retry-After, Content-Disposition',
  ),
  CacheControl: textHeader('On every response: caches must not store it.', 'no-store'),
  ContentLanguage: textHeader('Language of the page: en, de, es, pt or ja.', 'de'),
  ContentEncoding: textHeader('br or gzip, chosen by Accept-Encoding; absent for identity.', 'br'),
  Vary: textHeader('The page depends on these request headers.', 'Accept-Language, Accept-Encoding'),
  ContentDisposition: textHeader('Save the response as a file.', 'attachment; filename="account-export.json"'),
  Location: textHeader(
    'The same query for the DID, relative to the host.',
    '/account?did=did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz&days=7',
  ),
  RetryAfter: textHeader('Time to wait before a retry, in whole seconds.', '2'),
  XRobotsTag: textHeader('On every response: search engines must not index it.', 'noindex, nofollow'),
  ReferrerPolicy: textHeader(
    'On every response: browsers must not send the address, which contains an account, to other sites.',
    'no-referrer',
  ),
} as const;

const names: Record<keyof typeof headerComponents, string> = {
  ...commonHeaderNames,
  CacheControl: 'Cache-Control',
  ContentLanguage: 'Content-Language',
  ContentEncoding: 'Content-Encoding',
  Vary: 'Vary',
  ContentDisposition: 'Content-Disposition',
  Location: 'Location',
  RetryAfter: 'Retry-After',
  XRobotsTag: 'X-Robots-Tag',
  ReferrerPolicy: 'Referrer-Policy',
};

/** Returns references to the headers that every response has, followed by the given headers. */
export function headers(...more: (keyof typeof headerComponents)[]): Record<string, { $ref: string }> {
  const all: (keyof typeof headerComponents)[] = [
    'AccessControlAllowOrigin',
    'AccessControlExposeHeaders',
    'CacheControl',
    'XContentTypeOptions',
    'XRobotsTag',
    'ReferrerPolicy',
    'AcceptRanges',
    'Date',
    ...more,
  ];
  return Object.fromEntries(all.map((name) => [names[name], { $ref: `#/components/headers/${name}` }]));
}

/** Returns references to the headers of a page. Scripts of other origins cannot read these headers. */
export function pageHeaders(...more: (keyof typeof headerComponents)[]): Record<string, { $ref: string }> {
  const { [names.AccessControlAllowOrigin]: _, [names.AccessControlExposeHeaders]: __, ...own } = headers(...more);
  return own;
}

/** Returns the JSON content of a response: a reference to a schema component, with examples. */
export function jsonContent(schema: string, values: Readonly<Record<string, unknown>>) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples: named(values) } };
}

function error(description: string, values: Readonly<Record<string, unknown>>, ...more: ('RetryAfter' | 'Allow')[]) {
  return { description, headers: headers('ContentLength', ...more), content: jsonContent('Error', values) };
}

/** HTML content of a response that is a page. */
export const htmlContent = { 'text/html': { schema: { type: 'string', description: 'A page for people.' } } };

function errorPage(description: string, ...more: 'RetryAfter'[]) {
  return {
    description: `${description} Sent as an HTML page.`,
    headers: pageHeaders('ContentEncoding', 'ContentLanguage', 'Vary', ...more),
    content: htmlContent,
  };
}

/** Response components of the OpenAPI document. */
export const responseComponents = {
  Refused: error(
    'Refused, with the reason. If the export is too large, the response lists intervals that fit.',
    examples.refused,
  ),
  Expired: error(
    'The export expired, or its observations are no longer available. It is incomplete.',
    examples.expired,
  ),
  Busy: error('The store is busy, or this client has used up its allowance.', examples.busy, 'RetryAfter'),
  NotFound: error('No such path. Paths are matched exactly.', examples.notFound),
  MethodNotAllowed: error(
    'Any method other than GET, HEAD and OPTIONS, on every path.',
    examples.methodNotAllowed,
    'Allow',
  ),
  BadRequest: error('The request is not well-formed HTTP.', examples.badRequest),
  RequestTimeout: error('The request did not arrive in time.', examples.requestTimeout),
  UriTooLong: error('The request target is too long.', examples.uriTooLong),
  HeadersTooLarge: error('The request headers are too large.', examples.headersTooLarge),
  InternalError: error('The service could not answer.', examples.internalError),
  AssetUnavailable: error('This document is missing.', examples.assetUnavailable),
  PageRefused: errorPage('Refused, with the reason.'),
  PageExpired: errorPage('The oldest observations left the window while the page was rendered.'),
  PageBusy: errorPage('The store is busy, or this client has used up its allowance.', 'RetryAfter'),
  PageFailed: errorPage('The service could not answer.'),
  ToDid: {
    description:
      'The request named the account by its handle, or by a DID with surrounding text: request the DID instead. No body.',
    headers: pageHeaders('Location'),
  },
  Preflight: {
    description: 'Preflight of a cross-origin request; the same on every path. No body.',
    headers: headers('Allow', 'AccessControlAllowMethods', 'AccessControlAllowHeaders', 'AccessControlMaxAge'),
  },
} as const;

/** Returns a reference to a shared response component. */
export function response(name: keyof typeof responseComponents): { $ref: string } {
  return { $ref: `#/components/responses/${name}` };
}
