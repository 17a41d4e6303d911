import type Type from 'typebox';
import { LabelFreshness } from '../envelope.ts';
import { LabelerErrorBody, labelerErrorBody } from '../errors.ts';
import { didPlcPattern, didWebPattern, maxDidLength } from '../identifiers.ts';
import * as labelers from '../labelers.ts';
import { type LabelerEnvelope, type LabelersEnvelope, labelerContractIds } from '../labelers.ts';
import { Acquisition, Gap } from '../labels.ts';
import {
  parameterComponents as factsParameters,
  responseComponents as factsResponses,
  headerComponents,
  headers,
  jsonContent,
} from '../openapi/document.ts';
import { examples } from '../openapi/examples.ts';
import { openApiFrame, pathItemsOf, type Resource } from '../openapi/frame.ts';
import { labelerStates } from '../vocabulary.ts';

/** OpenAPI 3.1 document that describes the documents about labelers, built from the schemas of their types. */

const head = {
  instrument: 'labels',
  generated_at: '2026-11-20T12:00:00.000Z',
  retrieved_at: '2026-11-20T12:00:31.250Z',
  age_seconds: 31.25,
} as const;

const frame = {
  window: { start: '2026-10-21T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z' },
  acquisition: {
    generation_id: '0f5c1c1e-7a43-4a3e-9a34-2f9a9a6d1b11',
    started_at: '2026-10-06T09:30:00.000Z',
    basis: 'local_acceptance_clock',
  },
  counted_since: '2026-11-12T08:00:00.000Z',
} as const;

const tail: Pick<LabelerEnvelope, 'caveats' | 'provenance' | 'freshness'> = {
  caveats: ['Having no observations does not mean that no labels exist.'],
  provenance: {
    instrument: 'labels',
    method: 'label_stream_and_poll',
    artifact_schema_version: 'labels.labelers.v1',
    origin: 'live',
  },
  freshness: {
    state: 'fresh',
    age_seconds: 31.25,
    basis: 'artifact_generated_at',
    max_age_seconds: 7200,
    collection_age_seconds: 43.13,
    collection_max_age_seconds: 7200,
  },
};

const failing: Omit<LabelersEnvelope['facts']['labelers'][number], 'events' | 'unread_days_7d'> = {
  did: 'did:plc:ar7c4by46qjdydhdevvrndac',
  handle: { name: 'labels.example.com', confirmed: true },
  enrolled: true,
  state: 'refused',
  state_since: '2026-11-18T04:10:00.000Z',
  problem: 'authentication_required',
  found_by: ['relay'],
  read_by: null,
  last_answered: '2026-11-18T04:05:12.000Z',
  last_row: '2026-11-18T04:01:00.000Z',
};

const list: LabelersEnvelope = {
  contract: labelerContractIds.list,
  ...head,
  facts: {
    ...frame,
    conclusion:
      '0 of the 1 labelers that Almanac follows were read without a gap in the last 7 days. The activity of the other one is known only in part.',
    states: {
      established: 0,
      probing: 0,
      unstarted: 0,
      refused: 1,
      cursor_order_unverified: 0,
      undated_only: 0,
      provider_rejects: 0,
      unavailable: 0,
      departed: 0,
      denied: 0,
    },
    omitted: 0,
    labelers: [{ ...failing, events: { window: 4192, week: 1204, day: null }, unread_days_7d: 3 }],
  },
  ...tail,
};

const one: LabelerEnvelope = {
  contract: labelerContractIds.one,
  ...head,
  facts: {
    ...frame,
    conclusion: 'Not read since 18 November; what it has done since then is not known.',
    ...failing,
    first_answered: '2026-10-06T09:31:02.000Z',
    remedy:
      'The endpoint responds to anonymous requests with 401 or 403. Allow subscribeLabels and queryLabels without authentication. If the refusal is intended, no action is necessary.',
    events: { window: 4192, week: 1204, day: null },
    repeats: 0,
    days: [
      { day: '2026-11-18', applied: 31, removed: 2, read_share: 0.1736 },
      { day: '2026-11-19', applied: null, removed: null, read_share: 0 },
    ],
    gaps: [{ start: '2026-11-18T04:10:00.000Z', end: '2026-11-20T12:00:00.000Z', reason: 'source_unavailable' }],
    gap_overflow: false,
    signatures: { verified: 1204, verified_earlier_key: 0, invalid: 0, unsigned: 0, unverified: 0 },
    values: [{ value: 'spam', events: 1200, first_defined: '2026-10-06', last_defined: null }],
    values_omitted: 0,
    undeclared: 'fewer_than_5',
    replaces_rows: false,
    delay_ms: { p50: 940, p90: 2410, labels: 1190 },
    definitions: {
      seen_at: '2026-11-17T10:00:00.000Z',
      values: [
        {
          value: 'spam',
          severity: 'inform',
          blurs: 'none',
          default_setting: 'warn',
          adult_only: false,
          locales: [{ lang: 'en', name: 'Spam', description: 'Unwanted advertisement.' }],
        },
      ],
      values_omitted: 0,
    },
  },
  ...tail,
};

/** Examples for the OpenAPI document, grouped by the response in which they appear. */
export const labelerExamples = {
  list: { list },
  one: { failing: one },
  refused: examples.labelsRefused,
  notFound: { unknown: labelerErrorBody('unknown_labeler'), no_such_path: labelerErrorBody('not_found') },
} as const;

/** HTML content of a response that is a page. */
const htmlContent = { 'text/html': { schema: { type: 'string', description: 'A page for people.' } } };

/** Response components of the OpenAPI document. */
const responseComponents = {
  NotModified: factsResponses.NotModified,
  NotFound: {
    description: 'The list does not contain this labeler, or there is no such path.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', labelerExamples.notFound),
  },
  PageNotFound: {
    description: 'The list does not contain this labeler. Sent as an HTML page.',
    headers: headers('ContentLength', 'NoStore'),
    content: htmlContent,
  },
  MethodNotAllowed: factsResponses.MethodNotAllowed,
  BadRequest: factsResponses.BadRequest,
  RequestTimeout: factsResponses.RequestTimeout,
  UriTooLong: factsResponses.UriTooLong,
  HeadersTooLarge: factsResponses.HeadersTooLarge,
  InternalError: {
    description: 'The document must not be served, or could not be built.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', examples.internalError),
  },
  Refused: {
    description:
      'Refused: there are no current labelers, or the label overview generated at the same time is held or stale. Decided before the conditional request. Do not use an older document as current.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', labelerExamples.refused),
  },
  PageRefused: {
    description: 'Refused, with the reason. Sent as an HTML page.',
    headers: headers('ContentLength', 'NoStore'),
    content: htmlContent,
  },
  PageFailed: {
    description: 'The page must not be served, or could not be built. Sent as an HTML page.',
    headers: headers('ContentLength', 'NoStore'),
    content: htmlContent,
  },
  AssetUnavailable: factsResponses.AssetUnavailable,
  Preflight: factsResponses.Preflight,
} as const;

/** Returns a reference to a shared response component. */
function response(name: keyof typeof responseComponents): { $ref: string } {
  return { $ref: `#/components/responses/${name}` };
}

/** Examples of responses about labelers. Tests validate them against the schemas. */

const schemas: Record<string, Type.TSchema> = {
  LabelersEnvelope: labelers.LabelersEnvelope,
  LabelersFacts: labelers.LabelersFacts,
  LabelerSummary: labelers.LabelerSummary,
  LabelerStateCounts: labelers.LabelerStateCounts,
  LabelerEnvelope: labelers.LabelerEnvelope,
  LabelerFacts: labelers.LabelerFacts,
  LabelerHandle: labelers.LabelerHandle,
  LabelerEvents: labelers.LabelerEvents,
  LabelerWindow: labelers.LabelerWindow,
  LabelerDay: labelers.LabelerDay,
  LabelerValue: labelers.LabelerValue,
  LabelerCount: labelers.LabelerCount,
  LabelerDefinitions: labelers.LabelerDefinitions,
  LabelerDefinition: labelers.LabelerDefinition,
  Acquisition,
  Gap,
  LabelFreshness,
  Error: LabelerErrorBody,
};

const description = `The labelers that Almanac follows, by name, with the coverage of the observation of each. A labeler is a public moderation service; no document names an account that a label is about.

A count that is not known is null, never zero: nothing is known about a day that was not read. A document is refused with 503 whenever the label overview generated at the same time is held, stale or missing. Keep the error, and never substitute zeros or an older reading.

The contract of the facts under /v1/ does not cover these documents. The field \`contract\` states their version; check it in your client.`;

/** Builds the OpenAPI document. `version` is the version of the package. */
export function labelersOpenApiDocument(version: string): object {
  return openApiFrame({
    title: 'Almanac: labelers by name',
    version,
    summary: 'The labelers that Almanac follows, and the coverage of the observation of each.',
    description,
    tags: [
      { name: 'labelers', description: 'Documents and pages about labelers.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathItems,
    schemas,
    responses: responseComponents,
    headers: headerComponents,
    parameters: parameterComponents,
  });
}

function query(name: string, description: string, schema: object) {
  return { name, in: 'query', required: false, description, schema } as const;
}

/** Parameter components of the OpenAPI document. */
const parameterComponents = {
  ...factsParameters,
  Did: {
    name: 'did',
    in: 'path',
    required: true,
    description: 'DID of the labeler, without percent-encoding.',
    schema: { type: 'string', pattern: `${didPlcPattern}|${didWebPattern}`, maxLength: maxDidLength },
    example: 'did:plc:ar7c4by46qjdydhdevvrndac',
  },
  Search: query('q', 'Part of a handle or DID; at most 64 bytes. A longer text is ignored.', { type: 'string' }),
  Sort: query('sort', 'Order of the list. Default: events.', {
    type: 'string',
    enum: ['events', 'name', 'state', 'since', 'read'],
  }),
  State: query('state', 'Only labelers in this state.', { type: 'string', enum: [...labelerStates] }),
  Page: query('page', 'Number of the page, from 1.', { type: 'integer', minimum: 1, maximum: 9999 }),
} as const;

function parameters(...names: (keyof typeof parameterComponents)[]) {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

const below = {
  '400': response('BadRequest'),
  '404': response('NotFound'),
  '405': response('MethodNotAllowed'),
  '408': response('RequestTimeout'),
  '414': response('UriTooLong'),
  '431': response('HeadersTooLarge'),
};
const documented = {
  '304': response('NotModified'),
  ...below,
  '500': response('InternalError'),
  '503': response('Refused'),
};
const asPage = { ...documented, '500': response('PageFailed'), '503': response('PageRefused') };
const validated = headers('ContentLength', 'ETag', 'LastModified', 'CacheControl', 'Vary', 'ContentEncoding');

const resources: Record<string, Resource> = {
  [labelers.labelerPaths.list]: {
    id: 'Labelers',
    tag: 'labelers',
    summary: 'All labelers that Almanac follows or followed in the window',
    description: 'At most 5,000 labelers, sorted by DID. The uncompressed document has at most 4 MiB.',
    parameters: parameters('IfNoneMatch', 'AcceptEncoding'),
    ok: {
      description: 'The labelers.',
      headers: validated,
      content: jsonContent('LabelersEnvelope', labelerExamples.list),
    },
    more: documented,
  },
  [`${labelers.labelerPaths.one}{did}.json`]: {
    id: 'Labeler',
    tag: 'labelers',
    summary: 'One labeler',
    description: 'State of the labeler, its events by day, its gaps, and its values with their definitions.',
    pathParameters: parameters('Did'),
    parameters: parameters('IfNoneMatch', 'AcceptEncoding'),
    ok: {
      description: 'The labeler.',
      headers: validated,
      content: jsonContent('LabelerEnvelope', labelerExamples.one),
    },
    more: documented,
  },
  [labelers.labelerPaths.page]: {
    id: 'LabelersPage',
    tag: 'labelers',
    summary: 'All labelers, as a page',
    description:
      'Only this path accepts query parameters. Unknown parameters and invalid values are ignored. The response to a query has no validator, and caches must not store the response.',
    parameters: parameters('Search', 'Sort', 'State', 'Page', 'IfNoneMatch', 'AcceptEncoding'),
    ok: { description: 'The page.', headers: validated, content: htmlContent },
    more: asPage,
  },
  [`${labelers.labelerPaths.one}{did}`]: {
    id: 'LabelerPage',
    tag: 'labelers',
    summary: 'One labeler, as a page',
    description: 'Every number on the page comes from the JSON document of the labeler.',
    pathParameters: parameters('Did'),
    parameters: parameters('IfNoneMatch', 'AcceptEncoding'),
    ok: { description: 'The page.', headers: validated, content: htmlContent },
    more: { ...asPage, '404': response('PageNotFound') },
  },
  [labelers.labelerPaths.openapi]: {
    id: 'LabelersOpenApi',
    tag: 'service',
    summary: 'This document',
    description: 'The description of these documents (OpenAPI 3.1).',
    ok: {
      description: 'The document.',
      headers: headers('ContentLength', 'CacheControl', 'Vary', 'ContentEncoding'),
      content: { 'application/json': { schema: { type: 'object', description: 'An OpenAPI 3.1 document.' } } },
    },
    parameters: parameters('AcceptEncoding'),
    more: { ...below, '500': response('InternalError'), '503': response('AssetUnavailable') },
  },
};

/** Path items for the OpenAPI document of the documents about labelers. */
const pathItems = pathItemsOf(resources, { '204': response('Preflight'), '405': response('MethodNotAllowed') });

/** Responses that the operations on labelers share. */
