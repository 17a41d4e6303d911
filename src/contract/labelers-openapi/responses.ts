import { examples } from '../openapi/examples.ts';
import { responseComponents as factsResponses, headers, jsonContent } from '../openapi/responses.ts';
import { labelerExamples } from './examples.ts';

/** Responses that the operations on labelers share. */

/** HTML content of a response that is a page. */
export const htmlContent = { 'text/html': { schema: { type: 'string', description: 'A page for people.' } } };

/** Response components of the OpenAPI document. */
export const responseComponents = {
  NotModified: factsResponses.NotModified,
  NotFound: {
    description: 'Almanac does not follow this labeler, or there is no such path.',
    headers: headers('ContentLength', 'NoStore'),
    content: jsonContent('Error', labelerExamples.notFound),
  },
  PageNotFound: {
    description: 'Almanac does not follow this labeler. Sent as an HTML page.',
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
export function response(name: keyof typeof responseComponents): { $ref: string } {
  return { $ref: `#/components/responses/${name}` };
}
