import { examples } from './examples.ts';
import { commonHeaderNames, commonHeaders, named, textHeader } from './frame.ts';

/** Response headers of the facts API. The document describes each header once and refers to it elsewhere. */

/** Header components of the OpenAPI document. */
export const headerComponents = {
  ...commonHeaders,
  AccessControlExposeHeaders: textHeader(
    'On every response: the headers that scripts may read.',
    'ETag, Last-Modified, Cache-Control, Age, Date',
  ),
  CacheControl: textHeader('How long caches may reuse this representation.', 'public, max-age=60'),
  NoStore: textHeader('Caches must not store a refusal.', 'no-store'),
  ContentEncoding: textHeader('br or gzip, chosen by Accept-Encoding; absent for identity.', 'br'),
  ETag: textHeader(
    "Weak validator of the artifact's bytes and of the age bucket (one minute). Send it back exactly, with its quotes, in If-None-Match.",
    'W/"fTM9UUDKzocu1Po-BZS2l2Tk4MH"',
  ),
  LastModified: textHeader(
    'Modification time of the artifact. If-Modified-Since is not evaluated.',
    'Fri, 20 Nov 2026 12:00:00 GMT',
  ),
  Vary: textHeader('The representation depends on this request header.', 'Accept-Encoding'),
} as const;

type HeaderName = keyof typeof headerComponents;

const names: Record<HeaderName, string> = {
  ...commonHeaderNames,
  CacheControl: 'Cache-Control',
  NoStore: 'Cache-Control',
  ContentEncoding: 'Content-Encoding',
  ETag: 'ETag',
  LastModified: 'Last-Modified',
  Vary: 'Vary',
};

/** Returns references to the headers that every response has, followed by the given headers. */
export function headers(...components: HeaderName[]): Record<string, { $ref: string }> {
  const all: HeaderName[] = [
    'AccessControlAllowOrigin',
    'AccessControlExposeHeaders',
    'XContentTypeOptions',
    'AcceptRanges',
    'Date',
    ...components,
  ];
  return Object.fromEntries(all.map((name) => [names[name], { $ref: `#/components/headers/${name}` }]));
}

/** Returns the JSON content of a response: a reference to a schema component, with examples. */
export function jsonContent(schema: string, values: Readonly<Record<string, unknown>>) {
  return {
    'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples: named(values) },
  };
}

/** Response components of the OpenAPI document. */
export const responseComponents = {
  NotModified: {
    description: 'The validator matches: the representation that the client holds is still current. No body.',
    headers: headers('ETag', 'LastModified', 'CacheControl', 'Vary'),
  },
  NotFound: {
    description: 'No such path. Paths are matched exactly.',
    headers: headers('ContentLength'),
    content: jsonContent('Error', examples.notFound),
  },
  MethodNotAllowed: {
    description: 'Any method other than GET, HEAD and OPTIONS, on this path as on every other.',
    headers: headers('ContentLength', 'Allow'),
    content: jsonContent('Error', examples.methodNotAllowed),
  },
  BadRequest: {
    description: 'The request is not well-formed HTTP.',
    headers: headers('ContentLength'),
    content: jsonContent('Error', examples.badRequest),
  },
  RequestTimeout: {
    description: 'The request did not arrive in time.',
    headers: headers('ContentLength'),
    content: jsonContent('Error', examples.requestTimeout),
  },
  UriTooLong: {
    description: 'The request target is longer than any path of this service.',
    headers: headers('ContentLength'),
    content: jsonContent('Error', examples.uriTooLong),
  },
  HeadersTooLarge: {
    description: 'The request headers are too large.',
    headers: headers('ContentLength'),
    content: jsonContent('Error', examples.headersTooLarge),
  },
  InternalError: {
    description: 'The service could not build the fact.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', examples.internalError),
  },
  LabelsRefused: {
    description:
      'The overview is refused: unavailable, held or stale, the first that applies. Decided before the conditional request, so it comes even when the validator would match. `error.freshness` is present when an artifact was read. Do not use an older reading as current.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', examples.labelsRefused),
  },
  WeatherRefused: {
    description:
      'There is no usable artifact. This is absence of a current reading, not proof that nothing was observed.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', examples.weatherRefused),
  },
  AssetUnavailable: {
    description: 'This document is missing. The facts are not affected.',
    headers: headers('ContentLength'),
    content: jsonContent('Error', examples.assetUnavailable),
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
