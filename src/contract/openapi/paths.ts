import { paths } from '../identifiers.ts';
import { examples } from './examples.ts';
import { pathItemsOf, type Resource } from './frame.ts';
import { headers, jsonContent, response } from './responses.ts';

/** Paths of the contract. The OpenAPI document describes no other paths. */

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
export const pathItems = pathItemsOf(resources, { '204': response('Preflight'), '405': response('MethodNotAllowed') });
