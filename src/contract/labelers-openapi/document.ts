import type Type from 'typebox';
import { LabelFreshness } from '../freshness.ts';
import { didPlcPattern, didWebPattern, maxDidLength } from '../identifiers.ts';
import { LabelerErrorBody } from '../labeler-errors.ts';
import { labelerStates } from '../labeler-vocabulary.ts';
import * as labelers from '../labelers.ts';
import { Acquisition, Gap } from '../labels.ts';
import { openApiFrame, pathItemsOf, type Resource } from '../openapi/frame.ts';
import { parameterComponents as factsParameters } from '../openapi/paths.ts';
import { headerComponents, headers, jsonContent } from '../openapi/responses.ts';
import { labelerExamples as examples } from './examples.ts';
import { htmlContent, response, responseComponents } from './responses.ts';

/** OpenAPI 3.1 document that describes the documents about labelers, built from the schemas of their types. */

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
    ok: { description: 'The labelers.', headers: validated, content: jsonContent('LabelersEnvelope', examples.list) },
    more: documented,
  },
  [`${labelers.labelerPaths.one}{did}.json`]: {
    id: 'Labeler',
    tag: 'labelers',
    summary: 'One labeler',
    description: 'State of the labeler, its events by day, its gaps, and its values with their definitions.',
    pathParameters: parameters('Did'),
    parameters: parameters('IfNoneMatch', 'AcceptEncoding'),
    ok: { description: 'The labeler.', headers: validated, content: jsonContent('LabelerEnvelope', examples.one) },
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
