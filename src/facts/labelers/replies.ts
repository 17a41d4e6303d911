import { createHash } from 'node:crypto';
import type { LabelFreshness } from '../../contract/freshness.ts';
import { type LabelerErrorCode, labelerErrorBody } from '../../contract/labeler-errors.ts';
import { type HeaderList, httpDate } from '../../http/headers.ts';
import type { ReadRequest } from '../../http/read-request.ts';
import { json, jsonType, type Reply, withBody } from '../../http/reply.ts';
import { type Coding, chooseCoding } from '../../http/representation/accept-encoding.ts';
import { matchesEntityTag } from '../../http/representation/if-none-match.ts';
import { renderPage } from '../../web/document.tsx';
import { cacheControl } from '../representation.ts';
import { type CodedReplies, codedOnRequest } from './coded-reply.ts';
import { refusedPage } from './page/frame.tsx';

/** Responses of the documents and pages about labelers. */

/** Request headers on which a response may depend. */
export type Conditions = Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding'>;

/** A 200 response that may be cached, with its validators. */
export interface Validated {
  readonly etag: string;
  readonly notModified: Reply;
  readonly replies: CodedReplies;
}

/** Times of a document, in milliseconds since 1970. */
export interface DocumentTimes {
  readonly modifiedAt: number;
  readonly builtAt: number;
}

const html = 'text/html; charset=utf-8';

/** Headers of every page about labelers. Its form may only be sent to this origin. */
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
    // `Last-Modified` is never later than `Date`, even if the clock of the artifact's writer was ahead.
    'Last-Modified',
    httpDate(Math.min(modifiedAt, builtAt)),
    'Cache-Control',
    cacheControl,
    'Vary',
    'Accept-Encoding',
  ];
}

/** Creates the responses of a JSON document. `coded` decides when the body is compressed. */
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

/** Creates the responses of a page that may be cached. Its validator depends only on its bytes. */
export function pageDocument(page: string, times: DocumentTimes, common: HeaderList): Validated {
  const body = Buffer.from(page);
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const headers = [...validators(etag, times), ...pageHeaders, ...common];
  const replies = codedOnRequest({ status: 200, contentType: html, body, headers });
  return { etag, notModified: { status: 304, headers, body: null }, replies };
}

/** Creates the response of a page that must not be cached. */
export function passingPage(page: string, coding: Coding, common: HeaderList): Reply {
  const headers = ['Cache-Control', 'no-store', 'Vary', 'Accept-Encoding', ...pageHeaders, ...common];
  return codedOnRequest({ status: 200, contentType: html, body: Buffer.from(page), headers }).of(coding);
}

/** Returns 304 or 200, as the conditions of the request demand. */
export function conditional({ etag, notModified, replies }: Validated, conditions: Conditions): Reply {
  if (matchesEntityTag(conditions.ifNoneMatch, etag)) return notModified;
  return replies.of(chooseCoding(conditions.acceptEncoding));
}

/** Formats of a refusal: the format of the documents, or a page below a relative address of the service. */
export type RefusalFormat = 'json' | { readonly base: string };

/** Creates the response of a refusal. */
export function refusal(
  code: LabelerErrorCode,
  format: RefusalFormat,
  common: HeaderList,
  freshness?: LabelFreshness,
): Reply {
  const body = labelerErrorBody(code, freshness);
  const { status, message } = body.error;
  const store: HeaderList = ['Cache-Control', 'no-store', ...common];
  if (format === 'json') return json(status, body, store);
  const page = renderPage(refusedPage(format.base, { code, message }));
  return withBody(status, html, Buffer.from(page), [...store, ...pageHeaders]);
}
