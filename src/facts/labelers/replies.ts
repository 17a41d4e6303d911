import { createHash } from 'node:crypto';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { LabelFreshness } from '../../contract/envelope.ts';
import { type LabelerErrorCode, labelerErrorBody } from '../../contract/errors.ts';
import { type LabelerState, labelerStates, type Origin } from '../../contract/vocabulary.ts';
import type { ReadRequest } from '../../http/read-request.ts';
import { type HeaderList, json, jsonType, type Reply, withBody } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import { csvType } from '../embeds/chart-documents.tsx';
import { chartHeaders, svgType } from '../embeds/image.tsx';
import { validatorsOf } from '../representation.ts';
import { type Catalogue, type SortKey, sortKeys } from './catalogue.ts';
import { refusedPage } from './page/frame.tsx';

/** Query of the page `/labelers`. No other path of the facts API evaluates a query. */

/** Maximum length of a search text, in bytes of UTF-8. */
export const maxSearchBytes = 64;
/** Number of labelers on one page of the list. */
export const pageSize = 50;

/** A query of the labeler list. */
export interface ListQuery {
  /** Search text; empty if the query has none. */
  readonly q: string;
  readonly sort: SortKey;
  readonly state: LabelerState | null;
  /** Page number, starting with 1. */
  readonly page: number;
}

/** Query that shows the first page of the list without filters. */
export const plainQuery: ListQuery = { q: '', sort: 'events', state: null, page: 1 };

/**
 * Parses the query of a request target. Ignores unknown parameters and invalid values, and uses the first of repeated
 * parameters.
 */
export function parseListQuery(target: string): ListQuery {
  const at = target.indexOf('?');
  if (at < 0) return plainQuery;
  const given = new URLSearchParams(target.slice(at + 1));
  const q = (given.get('q') ?? '').trim();
  const sort = sortKeys.find((key) => key === given.get('sort'));
  const state = labelerStates.find((known) => known === given.get('state'));
  const page = /^[1-9][0-9]{0,3}$/.exec(given.get('page') ?? '');
  return {
    q: Buffer.byteLength(q) <= maxSearchBytes ? q : '',
    sort: sort ?? plainQuery.sort,
    state: state ?? null,
    page: page === null ? 1 : Number(page[0]),
  };
}

/** Returns true if the query equals `plainQuery`. */
export function isPlain({ q, sort, state, page }: ListQuery): boolean {
  return q === '' && sort === plainQuery.sort && state === null && page === 1;
}

/** Formats a query as text. The text contains only the parameters that differ from `plainQuery`. */
export function queryText(query: ListQuery): string {
  const parameters = new URLSearchParams();
  if (query.q !== '') parameters.set('q', query.q);
  if (query.sort !== plainQuery.sort) parameters.set('sort', query.sort);
  if (query.state !== null) parameters.set('state', query.state);
  if (query.page !== 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** A page of the labeler list. */
export interface ListPage {
  /** Indices of the entries on the page. */
  readonly shown: readonly number[];
  /** Number of entries that match the query. */
  readonly found: number;
  /** Number of this page; at most `pages`. */
  readonly page: number;
  readonly pages: number;
}

/** Selects the requested page, or the last page if the requested one does not exist. */
export function selectPage({ entries, orders, search }: Catalogue, query: ListQuery): ListPage {
  const wanted = query.q.toLowerCase().replace(/^@/, '');
  const found = wanted === '' ? null : search.matches(wanted);
  const order = orders[query.sort];
  const matching =
    found === null && query.state === null
      ? order
      : order.filter(
          (index) =>
            (query.state === null || entries[index]?.state === query.state) && (found === null || found[index] === 1),
        );
  const pages = Math.max(1, Math.ceil(matching.length / pageSize));
  const page = Math.min(query.page, pages);
  return {
    shown: [...matching.subarray((page - 1) * pageSize, page * pageSize)],
    found: matching.length,
    page,
    pages,
  };
}

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
const pageHeaders = headersOfPage("default-src 'none'");
/** Headers of a page with a chart, whose values a script of this origin reads. */
const chartPageHeaders = headersOfPage("default-src 'none'; script-src 'self'");

function headersOfPage(sources: string): HeaderList {
  return [
    'Content-Security-Policy',
    `${sources}; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    'Referrer-Policy',
    'no-referrer',
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
  const headers = [...validatorsOf(etag, times), ...common];
  const replies = coded({ status: 200, contentType: jsonType, body, headers });
  return { etag, notModified: { status: 304, headers, body: null }, replies };
}

/** Creates the responses of a cacheable page. Its ETag depends only on its bytes. `hasChart` permits the chart's script. */
export function pageDocument(page: string, times: DocumentTimes, common: HeaderList, hasChart = false): Validated {
  const body = Buffer.from(page);
  const etag = tagOf(body);
  const headers = [...validatorsOf(etag, times), ...(hasChart ? chartPageHeaders : pageHeaders), ...common];
  const replies = codedOnRequest({ status: 200, contentType: html, body, headers });
  return { etag, notModified: { status: 304, headers, body: null }, replies };
}

/** Creates the responses of a chart as a file. Its ETag depends only on its bytes. */
export function chartDocument(file: string, form: 'csv' | 'svg', times: DocumentTimes, common: HeaderList): Validated {
  const body = Buffer.from(file);
  const etag = tagOf(body);
  const headers = [...validatorsOf(etag, times), ...(form === 'svg' ? chartHeaders : []), ...common];
  const contentType = form === 'svg' ? svgType : csvType;
  const replies = codedOnRequest({ status: 200, contentType, body, headers });
  return { etag, notModified: { status: 304, headers, body: null }, replies };
}

function tagOf(body: Buffer): string {
  return `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** Creates the response with a page that no cache may store. */
export function passingPage(page: string, coding: Coding, common: HeaderList): Reply {
  const headers = ['Cache-Control', 'no-store', 'Vary', 'Accept-Encoding', ...pageHeaders, ...common];
  return codedOnce({ status: 200, contentType: html, body: Buffer.from(page), headers }, coding);
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

// Responses with bodies that are compressed often, or that are too large to compress while a client waits.

/**
 * Brotli level for bodies that are compressed during a request. Its output is a twelfth smaller than the output of
 * level 4, and takes the same time.
 */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const gzipLevel = { level: 5 };

/**
 * Settings for bodies that only one request receives. These settings take half the processor time of the levels for
 * cached bodies, and produce a few percent more bytes.
 */
const brotliOnce = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } };
const gzipOnce = { level: 3 };

/** Responses with the same body in every content coding. */
interface CodedReplies {
  /** Size of the uncompressed body, in bytes. */
  readonly bytes: number;
  of(coding: Coding): Reply;
}

/** Parts of a response that are the same in every content coding. */
interface CodedParts {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers: HeaderList;
}

function replyOf({ status, contentType, headers }: CodedParts, coding: Coding, bytes: Buffer): Reply {
  const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
  return withBody(status, contentType, bytes, [...codingHeader, ...headers]);
}

/** Creates responses whose body is compressed on the first request for each content coding. */
function codedOnRequest(parts: CodedParts): CodedReplies {
  const made = new Map<Coding, Reply>();
  return {
    bytes: parts.body.length,
    of(coding) {
      const known = made.get(coding);
      if (known) return known;
      const { body } = parts;
      const bytes =
        coding === 'br' ? brotliCompressSync(body, brotli) : coding === 'gzip' ? gzipSync(body, gzipLevel) : body;
      const reply = replyOf(parts, coding, bytes);
      made.set(coding, reply);
      return reply;
    },
  };
}

/** Creates the response with a body that only one request receives. */
function codedOnce(parts: CodedParts, coding: Coding): Reply {
  const { body } = parts;
  const bytes =
    coding === 'br' ? brotliCompressSync(body, brotliOnce) : coding === 'gzip' ? gzipSync(body, gzipOnce) : body;
  return replyOf(parts, coding, bytes);
}

/**
 * Creates responses with a large body, whose compression in threads starts immediately. Until it is complete, responses
 * are uncompressed. `compressed` resolves when all compressed forms are complete.
 */
export function codedInBackground(parts: CodedParts): CodedReplies & { readonly compressed: Promise<void> } {
  const identity = replyOf(parts, 'identity', parts.body);
  const made = new Map<Coding, Reply>([['identity', identity]]);
  const kept = (coding: Coding, resolve: () => void) => (error: Error | null, bytes: Buffer) => {
    // If compression failed, keep sending the uncompressed body, which is correct for every client.
    if (error === null) made.set(coding, replyOf(parts, coding, bytes));
    resolve();
  };
  const compressed = Promise.all([
    new Promise<void>((resolve) => brotliCompress(parts.body, brotli, kept('br', resolve))),
    new Promise<void>((resolve) => gzip(parts.body, gzipLevel, kept('gzip', resolve))),
  ]).then(() => undefined);
  return { bytes: parts.body.length, of: (coding) => made.get(coding) ?? identity, compressed };
}
