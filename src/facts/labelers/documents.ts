import { createHash } from 'node:crypto';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { LabelFreshness } from '../../contract/envelope.ts';
import { type LabelerErrorCode, labelerErrorBody } from '../../contract/errors.ts';
import { type LabelerEnvelope, labelerContractIds } from '../../contract/labelers.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import type { ReadRequest } from '../../http/read-request.ts';
import { type HeaderList, json, jsonType, type Reply, withBody } from '../../http/reply.ts';
import { type Coding, chooseCoding, codedReplies } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import { chartImage } from '../embeds/chart-image.tsx';
import { chartHeaders, svgType } from '../embeds/image.tsx';
import { csvType } from '../formats/formats.ts';
import { chartCsv } from '../hours/chart-figure.tsx';
import {
  ageBucket,
  type Cacheable,
  cacheable,
  conditionalReply,
  entityTag,
  wellFormedJson,
} from '../representation.ts';
import { type Catalogue, isPlain, type ListQuery, plainQuery, selectPage } from './catalogue.ts';
import { activityChart } from './page/activity.tsx';
import { refusedPage } from './page/frame.tsx';
import { labelerPage } from './page/labeler.tsx';
import { listPage, renderedRow, withRows } from './page/list.tsx';
import type { Pair, Paired } from './pair.ts';
import { labelerEnvelope, listEnvelope } from './project-labeler.ts';

/** JSON documents and HTML pages about labelers: the list of all of them, and each of them. */

/** Request headers on which a response may depend. */
export type Conditions = Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding'>;

/** Serialized empty list, which is replaced by the prepared entries. */
const emptyList = '"labelers":[]';

/** Creates the functions that respond with the labeler list. They throw PrivacyAlarm if the list must not be served. */
export function listDocuments(common: HeaderList) {
  const documents = new Kept<Cacheable>();
  const pages = new Kept<Cacheable>();
  /**
   * Rendered rows of the table by index. They are cached, because parsing and rendering them takes most of the time
   * needed to build a page.
   */
  const rows = new Kept<string>();

  function document(paired: Paired<Catalogue>, now: number): Cacheable {
    const { pair, judgement } = paired;
    const bucket = ageBucket(judgement.ageSeconds);
    const known = documents.get(pair, bucket, now, '');
    if (known) return known;
    const etag = entityTag(labelerContractIds.list, pair.digest, bucket);
    const body = withEntries(JSON.stringify(listEnvelope(paired, now)), pair.labelers.prepared.json);
    const parts = { modifiedAt: pair.modifiedAt, builtAt: now, headers: common };
    return documents.set('', cacheable(etag, { contentType: jsonType, body }, parts, codedInBackground), 0);
  }

  function plainPage(paired: Paired<Catalogue>, now: number): Cacheable {
    const { pair, judgement } = paired;
    const known = pages.get(pair, ageBucket(judgement.ageSeconds), now, '');
    if (known) return known;
    const body = Buffer.from(rendered(paired, plainQuery, now));
    const parts = { modifiedAt: pair.modifiedAt, builtAt: now, headers: [...pageHeaders, ...common] };
    return pages.set('', cacheable(tagOf(body), { contentType: html, body }, parts, codedOnRequest), 0);
  }

  function row({ labelers }: Pair<Catalogue>, index: number, now: number): string {
    const known = rows.get(labelers, 0, now, String(index));
    if (known !== null) return known;
    const summary = labelers.prepared.entries[index];
    const line = summary && labelers.set.labeler(summary.did);
    const text = summary && line ? renderedRow({ index, summary, days: line.days }) : '';
    return rows.set(String(index), text, text.length);
  }

  function rendered(paired: Paired<Catalogue>, query: ListQuery, now: number): string {
    const selected = selectPage(paired.pair.labelers.prepared, query);
    const page = renderPage(listPage({ envelope: listEnvelope(paired, now), query, selected }));
    const shown = selected.shown.map((index) => row(paired.pair, index, now));
    return withRows(page, shown);
  }

  return {
    document: (paired: Paired<Catalogue>, conditions: Conditions, now: number): Reply =>
      conditionalReply(document(paired, now), conditions),
    page(paired: Paired<Catalogue>, query: ListQuery, conditions: Conditions, now: number): Reply {
      if (isPlain(query)) return conditionalReply(plainPage(paired, now), conditions);
      return passingPage(rendered(paired, query, now), chooseCoding(conditions.acceptEncoding), common);
    },
    /** Builds the JSON document before a client requests it, because the document is large. */
    warm(paired: Paired<Catalogue>, now: number): void {
      document(paired, now);
    },
  };
}

/** Returns the response with a page that no cache may store. */
function passingPage(page: string, coding: Coding, common: HeaderList): Reply {
  const headers = ['Cache-Control', 'no-store', 'Vary', 'Accept-Encoding', ...pageHeaders, ...common];
  const parts = { contentType: html, body: Buffer.from(page), headers };
  return codedReplies(parts, (body, one) => encoded(body, one, levelsOnce))(coding);
}

/**
 * Inserts the serialized entries in place of the empty list. The text of the empty list is unique, because JSON would
 * escape its quotes within a string.
 */
function withEntries(text: string, entries: readonly Buffer[]): Buffer {
  const at = text.indexOf(emptyList) + emptyList.length - '[]'.length;
  return Buffer.concat([Buffer.from(text.slice(0, at).toWellFormed()), ...entries, Buffer.from(text.slice(at + 2))]);
}

/** Maximum total size of the cached values, in bytes. */
const maxKeptBytes = 4 * 1024 * 1024;

/** Cache of values that were rendered from one pair of artifacts in one age bucket. Its total size is limited. */
class Kept<V> {
  #source: unknown = null;
  #bucket = Number.NaN;
  #madeAt = 0;
  #bytes = 0;
  readonly #values = new Map<string, V>();

  /**
   * Returns the cached value for a key; null if there is none. Empties the cache first if it belongs to other artifacts
   * or another bucket, or if the clock was set back to a time before it was filled.
   */
  get(source: unknown, bucket: number, now: number, key: string): V | null {
    if (this.#source !== source || this.#bucket !== bucket || now < this.#madeAt) {
      this.#clear();
      this.#source = source;
      this.#bucket = bucket;
      this.#madeAt = now;
    }
    return this.#values.get(key) ?? null;
  }

  /**
   * Caches a value for the artifacts and the bucket of the last `get`, and returns it. `bytes` counts towards the
   * maximum size; empties the cache first if the value would exceed it.
   */
  set(key: string, value: V, bytes: number): V {
    if (this.#bytes + bytes > maxKeptBytes) this.#clear();
    this.#bytes += bytes;
    this.#values.set(key, value);
    return value;
  }

  #clear(): void {
    this.#bytes = 0;
    this.#values.clear();
  }
}

type Format = 'json' | 'page' | 'csv' | 'svg';

/** A document that may be served, or a marker that building or checking the document failed. */
type Made = { readonly kind: 'made'; readonly reply: Cacheable } | { readonly kind: 'failed' };

/**
 * Creates a function that responds with one labeler's document or page. If a document cannot be built, only that
 * document is refused, and `alarm` is called. The failure is cached like a document, so that later requests do not
 * repeat the attempt. An unknown labeler is refused without an alarm.
 */
export function labelerDocuments(common: HeaderList, alarm: (did: string, error: unknown) => void) {
  const kept = new Kept<Made>();

  function made(paired: Paired<unknown>, did: string, format: Format, now: number): Made {
    const { pair, judgement } = paired;
    const bucket = ageBucket(judgement.ageSeconds);
    const key = `${format} ${did}`;
    const known = kept.get(pair, bucket, now, key);
    if (known) return known;
    try {
      const { contentType, body, headers = [] } = contentOf(labelerEnvelope(paired, did, now), format);
      const tag = format === 'json' ? entityTag(`${labelerContractIds.one} ${did}`, pair.digest, bucket) : tagOf(body);
      const parts = { modifiedAt: pair.modifiedAt, builtAt: now, headers: [...headers, ...common] };
      const reply = cacheable(tag, { contentType, body }, parts, codedOnRequest);
      // A body and its compressed forms together take less than twice the size of the body.
      return kept.set(key, { kind: 'made', reply }, 2 * body.length);
    } catch (error) {
      alarm(did, error);
      return kept.set(key, { kind: 'failed' }, key.length);
    }
  }

  return (paired: Paired<unknown>, did: string, format: Format, conditions: Conditions, now: number): Reply => {
    const refusalFormat = format === 'page' ? { base: '..' } : 'json';
    const origin = { origin: paired.pair.overview.origin ?? 'live' };
    if (!paired.pair.labelers.set.has(did)) return refusal('unknown_labeler', refusalFormat, common, origin);
    const found = made(paired, did, format, now);
    if (found.kind === 'failed') return refusal('internal_error', refusalFormat, common, origin);
    return conditionalReply(found.reply, conditions);
  };
}

/** A body with its content type and its own headers. */
interface Content {
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers?: HeaderList;
}

/** Returns the document or page of a labeler, or the chart of its page as a file. */
function contentOf(envelope: LabelerEnvelope, format: Format): Content {
  if (format === 'json') return { contentType: jsonType, body: wellFormedJson(envelope) };
  if (format === 'page') {
    return { contentType: html, body: Buffer.from(renderPage(labelerPage(envelope))), headers: chartPageHeaders };
  }
  const { facts, provenance } = envelope;
  const chart = activityChart(facts);
  if (chart === null) throw new Error('the window has no length');
  const origin = provenance.origin ?? 'live';
  if (format === 'csv') return { contentType: csvType, body: Buffer.from(chartCsv(chart, origin)) };
  const image = chartImage(chart, origin, `Labeler ${facts.did}. `);
  return { contentType: svgType, body: Buffer.from(image), headers: chartHeaders };
}

/** Returns the validator of a body, which depends only on its bytes. */
function tagOf(body: Buffer): string {
  return `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
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

/** Levels of Brotli and gzip. */
interface Levels {
  readonly br: number;
  readonly gzip: number;
}

/**
 * Levels for bodies that are compressed once and cached. The output of this Brotli level is a twelfth smaller than that
 * of level 4, and takes the same time.
 */
const levelsCached: Levels = { br: 5, gzip: 5 };

/**
 * Levels for bodies that only one request receives. They take half the processor time of the levels for cached bodies,
 * and produce a few percent more bytes.
 */
const levelsOnce: Levels = { br: 2, gzip: 3 };

function brotliOptions({ br }: Levels) {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: br } };
}

function encoded(body: Buffer, coding: Coding, levels: Levels): Buffer {
  if (coding === 'identity') return body;
  return coding === 'br' ? brotliCompressSync(body, brotliOptions(levels)) : gzipSync(body, { level: levels.gzip });
}

/** Creates responses whose body is compressed on the first request for each content coding. */
const codedOnRequest: typeof codedReplies = (parts) =>
  codedReplies(parts, (body, coding) => encoded(body, coding, levelsCached));

/**
 * Creates responses with a large body, whose compression in threads starts immediately. Until it is complete, responses
 * are uncompressed.
 */
const codedInBackground: typeof codedReplies = (parts) => {
  const compressed = new Map<Coding, Buffer>();
  const keep = (coding: Coding) => (error: Error | null, bytes: Buffer) => {
    // If compression failed, keep sending the uncompressed body, which is correct for every client.
    if (error === null) compressed.set(coding, bytes);
  };
  brotliCompress(parts.body, brotliOptions(levelsCached), keep('br'));
  gzip(parts.body, { level: levelsCached.gzip }, keep('gzip'));
  const replies = codedReplies(parts, (body, coding) => compressed.get(coding) ?? body);
  return (coding) => replies(compressed.has(coding) ? coding : 'identity');
};
