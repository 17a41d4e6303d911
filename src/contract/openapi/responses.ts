import { examples } from './examples.ts';
import { named } from './frame.ts';
import { headers } from './headers.ts';

/** Responses that several operations of the facts API share. */

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
