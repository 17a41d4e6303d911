import type Type from 'typebox';
import {
  Health,
  InstrumentEntry,
  InstrumentIndex,
  LabelFreshness,
  LabelsOverview,
  WeatherConditionsEnvelope,
  WeatherFreshness,
  WeatherMetricsEnvelope,
} from '../envelope.ts';
import { ErrorBody } from '../errors.ts';
import { paths } from '../identifiers.ts';
import * as labels from '../labels.ts';
import * as weather from '../weather.ts';
import { examples } from './examples.ts';
import {
  commonHeaderNames,
  commonHeaders,
  named,
  openApiFrame,
  pathItemsOf,
  type Resource,
  textHeader,
} from './frame.ts';

/** OpenAPI 3.1 document of the facts API, built from the schemas of its types. */

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
function response(name: keyof typeof responseComponents): { $ref: string } {
  return { $ref: `#/components/responses/${name}` };
}

const ifNoneMatch = { $ref: '#/components/parameters/IfNoneMatch' };
const acceptEncoding = { $ref: '#/components/parameters/AcceptEncoding' };

/** Parameter components of the OpenAPI document. */
export const parameterComponents = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'Validators from earlier ETag headers, exactly as they came: one, a list, or `*`. Compared weakly; a malformed value matches nothing.',
    schema: { type: 'string' },
    example: 'W/"fTM9UUDKzocu1Po-BZS2l2Tk4MH"',
  },
  AcceptEncoding: {
    name: 'Accept-Encoding',
    in: 'header',
    required: false,
    description: 'br and gzip are offered.',
    schema: { type: 'string' },
    example: 'br, gzip',
  },
} as const;

/** Error responses to requests that are rejected before the path is looked up, or that name an unknown path. */
const below = {
  '400': response('BadRequest'),
  '404': response('NotFound'),
  '405': response('MethodNotAllowed'),
  '408': response('RequestTimeout'),
  '414': response('UriTooLong'),
  '431': response('HeadersTooLarge'),
};

const factHeaders = headers('ContentLength', 'ETag', 'LastModified', 'CacheControl', 'Vary', 'ContentEncoding');

function fact(resource: Omit<Resource, 'more' | 'parameters'>, refused: 'LabelsRefused' | 'WeatherRefused'): Resource {
  return {
    ...resource,
    parameters: [ifNoneMatch, acceptEncoding],
    more: {
      '304': response('NotModified'),
      ...below,
      '500': response('InternalError'),
      '503': response(refused),
    },
  };
}

const plain = { ...below, '500': response('InternalError') };

const resources: Record<string, Resource> = {
  [paths.instruments]: {
    id: 'Instruments',
    tag: 'facts',
    summary: 'The instruments and their states',
    description:
      'Every instrument is listed, whatever its state. PRESENT means readable, not servable: the label overview can still be refused. No validator and never 304.',
    ok: {
      description: 'The index.',
      headers: headers('ContentLength', 'CacheControl'),
      content: jsonContent('InstrumentIndex', examples.instruments),
    },
    more: plain,
  },
  [paths.labelsOverview]: fact(
    {
      id: 'LabelsOverview',
      tag: 'facts',
      summary: 'Observed label events, with coverage and freshness',
      description:
        'Observed label application and removal events in a rolling epoch, or the reading of the legacy producer. The overview never states which labels are active.',
      ok: {
        description: 'A fresh reading, or one of an epoch that began after the start of its window (warming_up).',
        headers: factHeaders,
        content: jsonContent('LabelsOverview', examples.labelsOverview),
      },
    },
    'LabelsRefused',
  ),
  [paths.weatherConditions]: fact(
    {
      id: 'WeatherConditions',
      tag: 'facts',
      summary: 'Network conditions now, in words',
      description:
        'Conditions of aggregate network activity, the interval on which they are based, and the observed part of that interval. Unavailable is never calm.',
      ok: {
        description: 'The conditions.',
        headers: factHeaders,
        content: jsonContent('WeatherConditionsEnvelope', examples.weatherConditions),
      },
    },
    'WeatherRefused',
  ),
  [paths.weatherMetrics]: fact(
    {
      id: 'WeatherMetrics',
      tag: 'facts',
      summary: 'Observed events and rates by collection',
      description:
        'Totals and mean rates by collection. Rates divide by observed time; what was not observed is missing or null, never zero.',
      ok: {
        description: 'The metrics.',
        headers: factHeaders,
        content: jsonContent('WeatherMetricsEnvelope', examples.weatherMetrics),
      },
    },
    'WeatherRefused',
  ),
  [paths.health]: {
    id: 'Health',
    tag: 'service',
    summary: 'Liveness of this service',
    description: 'Reports that the publication service responds. It does not report on any instrument.',
    ok: {
      description: 'The service responds.',
      headers: headers('ContentLength', 'NoStore'),
      content: jsonContent('Health', examples.health),
    },
    more: plain,
  },
  [paths.openapi]: {
    id: 'OpenApi',
    tag: 'service',
    summary: 'This document',
    description: 'The machine-readable contract (OpenAPI 3.1).',
    ok: {
      description: 'The document.',
      headers: headers('ContentLength', 'CacheControl', 'Vary', 'ContentEncoding'),
      content: { 'application/json': { schema: { type: 'object', description: 'An OpenAPI 3.1 document.' } } },
    },
    parameters: [acceptEncoding],
    more: { ...plain, '503': response('AssetUnavailable') },
  },
};

/** Path items for the OpenAPI document of the facts API. */
const pathItems = pathItemsOf(resources, { '204': response('Preflight'), '405': response('MethodNotAllowed') });

/** Response headers of the facts API. The document describes each header once and refers to it elsewhere. */

const schemas: Record<string, Type.TSchema> = {
  InstrumentIndex,
  InstrumentEntry,
  LabelsOverview,
  RecentLabelFacts: labels.RecentLabelFacts,
  LegacyLabelFacts: labels.LegacyLabelFacts,
  LegacyObservation: labels.LegacyObservation,
  NetworkWeather: labels.NetworkWeather,
  Acquisition: labels.Acquisition,
  Coverage: labels.Coverage,
  CoverageSources: labels.CoverageSources,
  LabelCounts: labels.LabelCounts,
  Gap: labels.Gap,
  LabelFreshness,
  WeatherConditionsEnvelope,
  WeatherMetricsEnvelope,
  WeatherConditionsFacts: weather.WeatherConditionsFacts,
  WeatherMetricsFacts: weather.WeatherMetricsFacts,
  WeatherConditions: weather.WeatherConditions,
  WeatherWindow: weather.WeatherWindow,
  TotalEvents: weather.TotalEvents,
  CollectionMetrics: weather.CollectionMetrics,
  WeatherFreshness,
  Health,
  Error: ErrorBody,
};

const description = `Public, anonymous, read-only aggregate facts about the AT Protocol network, as independent instruments observed it.

Every fact carries the limits of its observation: coverage, freshness and, for labels of a legacy producer, adequacy. Absence of evidence is reported as absence, never as a confident zero. A refused fact is a 503 with an Error object: keep the error, and never substitute zeros or an older reading.

No key, no account, no cookies. Query parameters are ignored. Within v1 meanings do not change, and a field is added only on purpose, with a new version of this document. Each response names its contract; check it in your client. The policy at \`policy\` below the base address lists what may change, how changes are announced and how long old forms remain supported.`;

/** Builds the OpenAPI document. `version` is the version of the package. */
export function openApiDocument(version: string): object {
  return openApiFrame({
    title: 'Almanac: public observation facts',
    version,
    summary: 'Observations of the AT Protocol network, with their limits.',
    description,
    tags: [
      { name: 'facts', description: 'Observations.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathItems,
    schemas,
    responses: responseComponents,
    headers: headerComponents,
    parameters: parameterComponents,
  });
}

/** Paths of the contract. The OpenAPI document describes no other paths. */
