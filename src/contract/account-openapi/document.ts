import Type from 'typebox';
import * as account from '../account.ts';
import { Health } from '../envelope.ts';
import { AccountErrorBody, FittingInterval } from '../errors.ts';
import { accountPaths, didPlcPattern, didWebPattern, maxDidLength } from '../identifiers.ts';
import { Acquisition, Gap } from '../labels.ts';
import { openApiFrame, pathItemsOf, type Resource } from '../openapi/frame.ts';
import { labelActions, targetKinds } from '../vocabulary.ts';
import {
  accountExamples as examples,
  headerComponents,
  headers,
  htmlContent,
  jsonContent,
  pageHeaders,
  response,
  responseComponents,
} from './responses.ts';

/** OpenAPI 3.1 document of the account-view API, built from the schemas of its types. */

const schemas: Record<string, Type.TSchema> = {
  ExportAnswer: Type.Union([account.ExportCreated, account.ExportNextPage, account.ExportLastPage], {
    title: 'ExportAnswer',
    description: 'A created export, a page that is followed by another page, or the last page.',
  }),
  ExportCreated: account.ExportCreated,
  ExportNextPage: account.ExportNextPage,
  ExportLastPage: account.ExportLastPage,
  AccountDownload: account.AccountDownload,
  ExportManifest: account.ExportManifest,
  ExportInterval: account.ExportInterval,
  ExportFilters: account.ExportFilters,
  AccountCoverage: account.AccountCoverage,
  LabelerCoverage: account.LabelerCoverage,
  AccountRow: account.AccountRow,
  Acquisition,
  Gap,
  FittingInterval,
  Health,
  Error: AccountErrorBody,
};

const description = `The labels observed on one account and its records, with the coverage of the observation.

These are observed applications and removals in a rolling window of 30 days. They do not establish which labels are active, and observing none does not mean that none exist. Labels of every labeler are kept apart; nothing is merged.

No key, no account, no cookies. Nothing is stored by caches. An unknown query parameter is refused. Each client may request a limited number of distinct accounts per day.`;

/** Builds the OpenAPI document. `version` is the version of the package. */
export function accountOpenApiDocument(version: string): object {
  return openApiFrame({
    title: 'Almanac: labels observed on an account',
    version,
    summary: 'Observed label events of one account, as a page and as a bounded export.',
    description,
    tags: [
      { name: 'account', description: 'Observations on one account.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathItems,
    schemas,
    responses: responseComponents,
    headers: headerComponents,
    parameters: parameterComponents,
  });
}

const did = { type: 'string', pattern: `${didPlcPattern}|${didWebPattern}`, maxLength: maxDidLength };
const instant = { type: 'string', format: 'date-time' };

function query(name: string, description: string, schema: object, example?: string) {
  return { name, in: 'query', required: false, description, schema, ...(example === undefined ? {} : { example }) };
}

/** Parameter components of the OpenAPI document. */
export const parameterComponents = {
  Did: query(
    'did',
    'DID of the account: did:plc or did:web. Required, except on /exports with a cursor.',
    did,
    'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
  ),
  Account: query(
    'did',
    "The account's DID, or its handle unless handles are switched off. Required. The response is 303 unless the value is the canonical DID.",
    { type: 'string' },
    'alice.bsky.social',
  ),
  Days: query('days', 'The last 7 or 30 days, clipped to the available time. Default: 30.', {
    type: 'integer',
    enum: [7, 30],
  }),
  Start: query(
    'start',
    'Start of an explicit interval, inclusive: RFC 3339 with a zone. With `end`, not with `days`.',
    instant,
  ),
  End: query('end', 'End of an explicit interval, exclusive.', instant),
  Labeler: query('labeler', 'Only labels of this labeler.', did),
  Value: query('value', `Only labels with exactly this value; at most ${account.maxValueBytes} bytes.`, {
    type: 'string',
  }),
  Action: query('action', 'Only applications or only removals.', { type: 'string', enum: [...labelActions] }),
  TargetKind: query('target_kind', 'Only labels on the account itself, on posts, or on other records.', {
    type: 'string',
    enum: [...targetKinds],
  }),
  Before: query(
    'before',
    'Continues the list of one target kind: only observations accepted before this instant. Requires `target_kind`.',
    instant,
  ),
  Language: query(
    'lang',
    'Language of the page. Without the parameter, and for any other value, `Accept-Language` selects the language; the default is English. Codes, exports and labelers’ texts are not translated.',
    { type: 'string', enum: ['en', 'de', 'es', 'pt', 'ja'] },
  ),
  Cursor: query('cursor', 'A cursor, sent unchanged as the only parameter.', {
    type: 'string',
    maxLength: 1024,
  }),
} as const;

function parameters(...names: (keyof typeof parameterComponents)[]) {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

const filters = ['Labeler', 'Value', 'Action', 'TargetKind'] as const;

/** A path with the responses that are specific to it. The document adds the responses that all paths share. */
type OwnResource = Omit<Resource, 'more'> & Partial<Pick<Resource, 'more'>>;

const below = {
  '400': response('BadRequest'),
  '404': response('NotFound'),
  '405': response('MethodNotAllowed'),
  '408': response('RequestTimeout'),
  '414': response('UriTooLong'),
  '431': response('HeadersTooLarge'),
  '500': response('InternalError'),
};
const refusals = { '409': response('Refused'), '410': response('Expired'), '503': response('Busy') };
/**
 * Redirect to the page of the DID, and refusals that are sent as HTML pages. Malformed requests get JSON errors, as on
 * every other path.
 */
const pageRefusals = {
  '303': response('ToDid'),
  '409': response('PageRefused'),
  '410': response('PageExpired'),
  '500': response('PageFailed'),
  '503': response('PageBusy'),
};

const resources: Record<string, OwnResource> = {
  [accountPaths.account]: {
    id: 'Account',
    tag: 'account',
    summary: 'The observations on one account, as a page',
    description:
      'Observed applications and removals of labels, those on the account itself first, with the coverage. The page never states which labels are active. A handle redirects to its DID. Refusals are pages too.',
    parameters: parameters('Account', 'Days', 'Start', 'End', ...filters, 'Before', 'Language'),
    ok: {
      description: 'The page.',
      headers: pageHeaders('ContentEncoding', 'ContentLanguage', 'Vary'),
      content: htmlContent,
    },
    more: pageRefusals,
  },
  [accountPaths.exports]: {
    id: 'Exports',
    tag: 'account',
    summary: 'Create an export, or read a page of an export',
    description:
      'With `did`: creates an export of the observations accepted so far, and returns its manifest and a cursor. With `cursor`: returns a page. Follow `next_cursor` until `terminal` is true; an export without its terminal page is incomplete. Keep the manifest with the rows. A cursor can be used again and returns the same page.',
    parameters: parameters('Did', 'Days', 'Start', 'End', ...filters, 'Cursor'),
    ok: {
      description: 'The created export, or a page.',
      headers: headers('ContentLength'),
      content: jsonContent('ExportAnswer', examples.exports),
    },
    more: refusals,
  },
  [accountPaths.download]: {
    id: 'Download',
    tag: 'account',
    summary: "An account page's rows as one document",
    description:
      'Requires the snapshot cursor of an account page. This path refuses cursors of exports, and /exports refuses snapshot cursors. A truncated body is invalid JSON: the download is then incomplete.',
    parameters: parameters('Cursor'),
    ok: {
      description: 'The complete export.',
      headers: headers('ContentDisposition'),
      content: jsonContent('AccountDownload', examples.download),
    },
    more: refusals,
  },
  [accountPaths.health]: {
    id: 'Health',
    tag: 'service',
    summary: 'Liveness of this service',
    description: 'Reports that the service responds. It does not report on the store or on any instrument.',
    ok: {
      description: 'The service responds.',
      headers: headers('ContentLength'),
      content: jsonContent('Health', examples.health),
    },
  },
  [accountPaths.openapi]: {
    id: 'OpenApi',
    tag: 'service',
    summary: 'This document',
    description: 'The machine-readable description of this surface (OpenAPI 3.1).',
    ok: {
      description: 'The document.',
      headers: headers('ContentLength'),
      content: { 'application/json': { schema: { type: 'object', description: 'An OpenAPI 3.1 document.' } } },
    },
    more: { '503': response('AssetUnavailable') },
  },
};

/** Path items for the OpenAPI document of the account-view API. */
const pathItems = pathItemsOf(
  Object.fromEntries(
    Object.entries(resources).map(([path, { more, ...rest }]) => [path, { ...rest, more: { ...below, ...more } }]),
  ),
  { '204': response('Preflight'), '405': response('MethodNotAllowed') },
);
