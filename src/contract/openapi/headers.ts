/** Response headers of the document, each described once and referred to. */

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

/** Components of the kind `headers`. */
export const headerComponents = {
  AccessControlAllowOrigin: text('On every response: any origin may read.', '*'),
  AccessControlExposeHeaders: text(
    'On every response: what a script may read.',
    'ETag, Last-Modified, Cache-Control, Age, Date',
  ),
  AccessControlAllowMethods: text('What a preflight is told.', 'GET, HEAD, OPTIONS'),
  AccessControlAllowHeaders: text('What a preflight is told.', 'If-None-Match'),
  AccessControlMaxAge: text('How long a preflight may be remembered, in seconds.', '86400'),
  Allow: text('The methods of this service.', 'GET, HEAD, OPTIONS'),
  CacheControl: text('How long this representation may be reused.', 'public, max-age=60'),
  NoStore: text('A refusal is never stored.', 'no-store'),
  ContentEncoding: text('br or gzip, as Accept-Encoding asked; absent for identity.', 'br'),
  ETag: text(
    "Weak validator of the artifact's bytes and of the age bucket (one minute). Send it back exactly, with its quotes, in If-None-Match.",
    'W/"fTM9UUDKzocu1Po-BZS2l2Tk4MH"',
  ),
  LastModified: text(
    'Modification time of the artifact. If-Modified-Since is not evaluated.',
    'Fri, 20 Nov 2026 12:00:00 GMT',
  ),
  XContentTypeOptions: text('On every response.', 'nosniff'),
  AcceptRanges: text('On every response: ranges are not evaluated.', 'none'),
  Date: text('When the response was sent.', 'Fri, 20 Nov 2026 12:00:31 GMT'),
  ContentLength: text('Length of the body; of HEAD, of the body that GET would have.', '2351'),
  Vary: text('The representation depends on this request header.', 'Accept-Encoding'),
} as const;

type HeaderName = keyof typeof headerComponents;

const names: Record<HeaderName, string> = {
  AccessControlAllowOrigin: 'Access-Control-Allow-Origin',
  AccessControlExposeHeaders: 'Access-Control-Expose-Headers',
  AccessControlAllowMethods: 'Access-Control-Allow-Methods',
  AccessControlAllowHeaders: 'Access-Control-Allow-Headers',
  AccessControlMaxAge: 'Access-Control-Max-Age',
  Allow: 'Allow',
  CacheControl: 'Cache-Control',
  NoStore: 'Cache-Control',
  ContentEncoding: 'Content-Encoding',
  ETag: 'ETag',
  LastModified: 'Last-Modified',
  XContentTypeOptions: 'X-Content-Type-Options',
  AcceptRanges: 'Accept-Ranges',
  Date: 'Date',
  ContentLength: 'Content-Length',
  Vary: 'Vary',
};

/** References to headers, after those that every response carries. */
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
