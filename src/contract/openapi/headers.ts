import { commonHeaderNames, commonHeaders, textHeader } from './frame.ts';

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
