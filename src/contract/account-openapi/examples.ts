import { type AccountDownload, accountExportSchema, type ExportCreated, type ExportPage } from '../account.ts';
import { type AccountErrorBody, accountErrorBody } from '../account-errors.ts';

/** Example responses. Tests validate them against the schemas. */

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
