import { type AccountDownload, accountExportSchema, type ExportCreated, type ExportPage } from '../account.ts';
import { type AccountErrorBody, accountErrorBody } from '../errors.ts';
import { commonHeaderNames, commonHeaders, named, textHeader } from '../openapi/frame.ts';

/** Headers and responses that operations of the account-view API share. */

const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const labeler = 'did:plc:ar7c4by46qjdydhdevvrndac';

const manifest: ExportCreated['manifest'] = {
  schema: accountExportSchema,
  account,
  interval: { start: '2026-11-18T09:30:00.000000Z', end: '2026-11-20T12:00:00.250000Z', end_exclusive: true },
  clipped: true,
  filters: { labeler },
  coverage: {
    status: 'warming_up',
    observed_through: '2026-11-20T11:59:58.120000Z',
    covered_through: '2026-11-20T11:59:58.120000Z',
    warmup: { start: '2026-11-13T12:00:00.250000Z', end: '2026-11-18T09:30:00.000000Z', reason: 'not_observed' },
    gaps: [],
    labelers: [
      {
        labeler_did: labeler,
        state: 'established',
        gaps: [
          {
            start: '2026-11-19T17:05:12.000000Z',
            end: '2026-11-19T17:42:00.000000Z',
            reason: 'source_unavailable',
          },
        ],
      },
    ],
  },
  acquisition: {
    generation_id: '0f5c1c1e-7a43-4a3e-9a34-2f9a9a6d1b11',
    started_at: '2026-11-18T09:30:00.000000Z',
    basis: 'local_acceptance_clock',
  },
  frontier: '2026-11-20T11:59:58.120001Z',
  count_bound: 2,
  current_label_state: 'unknown',
  page_rows: 500,
  created_at: '2026-11-20T12:00:00.250Z',
  expires_at: '2026-11-20T12:15:00.250Z',
};

const rows: ExportPage['rows'] = [
  {
    labeler_did: labeler,
    uri: `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`,
    cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
    value: 'spam',
    action: 'application_observed',
    source_timestamp: '2026-11-19T08:12:44.031Z',
    observed_at: '2026-11-19T08:12:45.220417Z',
    signature: 'verified',
  },
  {
    labeler_did: labeler,
    uri: `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`,
    value: 'spam',
    action: 'removal_observed',
    source_timestamp: '2026-11-19T09:00:01.500Z',
    observed_at: '2026-11-19T09:00:02.000001Z',
    signature: 'verified',
  },
];

const whole = {
  count: 2,
  content_sha256: '6f0f5c1b8e6c7b8f4a0f9e1d2c3b4a5968778695a4b3c2d1e0f00112233445566'.slice(0, 64),
};
const cursor = 'AYq3m0cJxwR1S8tV2bD5eF7hK9LmNpQrUwXyZ_-a';

const created: ExportCreated = { manifest, cursor };
const next: ExportPage = { manifest, rows: rows.slice(0, 1), next_cursor: cursor, terminal: false };
const last: ExportPage = { manifest, rows: rows.slice(1), next_cursor: null, terminal: true, ...whole };
const download: AccountDownload = { manifest, rows, ...whole };

const refused = {
  invalid_account: accountErrorBody('invalid_account'),
  invalid_cursor: accountErrorBody('invalid_cursor'),
  export_too_large: accountErrorBody('export_too_large', [
    { start: '2026-11-18T09:30:00.000000Z', end: '2026-11-19T20:11:02.118842Z', rows: 50_000 },
    { start: '2026-11-19T20:11:02.118842Z', end: '2026-11-20T12:00:00.250000Z', rows: 21_733 },
  ]),
} satisfies Record<string, AccountErrorBody>;

/** Examples for the OpenAPI document, grouped by the response in which they appear. */
export const accountExamples = {
  exports: { created, next, last },
  download: { whole: download },
  health: { ok: { status: 'ok', service: 'almanac-account' } },
  refused,
  expired: { snapshot_expired: accountErrorBody('snapshot_expired') },
  busy: {
    store_busy: accountErrorBody('store_busy'),
    store_behind: accountErrorBody('store_behind'),
    client_budget: accountErrorBody('client_budget'),
  },
  badRequest: { bad_request: accountErrorBody('bad_request') },
  requestTimeout: { request_timeout: accountErrorBody('request_timeout') },
  uriTooLong: { uri_too_long: accountErrorBody('uri_too_long') },
  headersTooLarge: { headers_too_large: accountErrorBody('headers_too_large') },
  notFound: { not_found: accountErrorBody('not_found') },
  methodNotAllowed: { method_not_allowed: accountErrorBody('method_not_allowed') },
  internalError: { internal_error: accountErrorBody('internal_error') },
  assetUnavailable: { asset_unavailable: accountErrorBody('asset_unavailable') },
} as const;

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
    accountExamples.refused,
  ),
  Expired: error(
    'The export expired, or its observations are no longer available. It is incomplete.',
    accountExamples.expired,
  ),
  Busy: error('The store is busy, or this client has used up its allowance.', accountExamples.busy, 'RetryAfter'),
  NotFound: error('No such path. Paths are matched exactly.', accountExamples.notFound),
  MethodNotAllowed: error(
    'Any method other than GET, HEAD and OPTIONS, on every path.',
    accountExamples.methodNotAllowed,
    'Allow',
  ),
  BadRequest: error('The request is not well-formed HTTP.', accountExamples.badRequest),
  RequestTimeout: error('The request did not arrive in time.', accountExamples.requestTimeout),
  UriTooLong: error('The request target is too long.', accountExamples.uriTooLong),
  HeadersTooLarge: error('The request headers are too large.', accountExamples.headersTooLarge),
  InternalError: error('The service could not answer.', accountExamples.internalError),
  AssetUnavailable: error('This document is missing.', accountExamples.assetUnavailable),
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

/** Example responses. Tests validate them against the schemas. */
