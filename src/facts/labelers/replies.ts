import { createHash } from 'node:crypto';
import type { LabelFreshness } from '../../contract/freshness.ts';
import { type LabelerErrorCode, labelerErrorBody } from '../../contract/labeler-errors.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { type HeaderList, httpDate } from '../../http/headers.ts';
import type { ReadRequest } from '../../http/read-request.ts';
import { json, jsonType, type Reply, withBody } from '../../http/reply.ts';
import { type Coding, chooseCoding } from '../../http/representation/accept-encoding.ts';
import { matchesEntityTag } from '../../http/representation/if-none-match.ts';
import { renderPage } from '../../web/document.tsx';
import { cacheControl } from '../representation.ts';
import { type CodedReplies, codedOnce, codedOnRequest } from './coded-reply.ts';
import { refusedPage } from './page/frame.tsx';

/** Creates the responses that contain the documents and pages about labelers. */

/** Request headers on which a response may depend. */
export type Conditions = Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding'>;

/** A cacheable 200 response with its validators. */
export interface Validated {
  readonly etag: string;
  readonly notModified: Reply;
  readonly replies: CodedReplies;
}

/** Times of a document, in milliseconds since 1970. */
interface DocumentTimes {
  readonly modifiedAt: number;
  readonly builtAt: number;
}

const html = 'text/html; charset=utf-8';

/** Headers of every page about labelers. The search form of such a page may be submitted only to this origin. */
const pageHeaders: HeaderList = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
];

function validators(etag: string, { modifiedAt, builtAt }: DocumentTimes): HeaderList {
  return [
    'ETag',
    etag,
    // Limit `Last-Modified` to the build time: the clock of the artifact's writer may be ahead.
    'Last-Modified',
    httpDate(Math.min(modifiedAt, builtAt)),
    'Cache-Control',
    cacheControl,
    'Vary',
    'Accept-Encoding',
  ];
}

/** Creates the responses of a JSON document. `coded` determines when the body is compressed. */
export function jsonDocument(
  body: Buffer,
  etag: string,
  times: DocumentTimes,
  common: HeaderList,
  coded: typeof codedOnRequest = codedOnRequest,
): Validated {
  const headers = [...validators(etag, times), ...common];
  const replies = coded({ status: 200, contentType: jsonType, body, headers });
  return { etag, notModified: { status: 304, headers, body: null }, replies };
}

/** Creates the responses of a cacheable page. Its ETag depends only on its bytes. */
export function pageDocument(page: string, times: DocumentTimes, common: HeaderList): Validated {
  const body = Buffer.from(page);
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const headers = [...validators(etag, times), ...pageHeaders, ...common];
  const replies = codedOnRequest({ status: 200, contentType: html, body, headers });
  return { etag, notModified: { status: 304, headers, body: null }, replies };
}

/** Creates the response with a page that no cache may store. */
export function passingPage(page: string, coding: Coding, common: HeaderList): Reply {
  const headers = ['Cache-Control', 'no-store', 'Vary', 'Accept-Encoding', ...pageHeaders, ...common];
  return codedOnce({ status: 200, contentType: html, body: Buffer.from(page), headers }, coding);
}

/** Returns a 304 or 200 response, depending on the conditional headers of the request. */
export function conditional({ etag, notModified, replies }: Validated, conditions: Conditions): Reply {
  if (matchesEntityTag(conditions.ifNoneMatch, etag)) return notModified;
  return replies.of(chooseCoding(conditions.acceptEncoding));
}

/** Format of a refusal: JSON, or an HTML page with the relative URL of the service. */
export type RefusalFormat = 'json' | { readonly base: string };

/** Creates the response of a refusal. A page marks the origin of the refused overview. */
export function refusal(
  code: LabelerErrorCode,
  format: RefusalFormat,
  common: HeaderList,
  { freshness, origin }: { readonly freshness?: LabelFreshness; readonly origin?: Origin } = {},
): Reply {
  const body = labelerErrorBody(code, freshness);
  const { status, message } = body.error;
  const store: HeaderList = ['Cache-Control', 'no-store', ...common];
  if (format === 'json') return json(status, body, store);
  const page = renderPage(refusedPage(format.base, { code, message, origin }));
  return withBody(status, html, Buffer.from(page), [...store, ...pageHeaders]);
}
