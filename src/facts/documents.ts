import { join } from 'node:path';
import { paths } from '../contract/identifiers.ts';
import { labelerPaths } from '../contract/labelers.ts';
import { errorReply, type HeaderList, jsonType, type Reply, withBody } from '../http/reply.ts';
import { type AssetFile, assetFile, assetMadeOf } from '../http/representation/asset-file.ts';
import { type Coding, matchesEntityTag } from '../http/representation/negotiation.ts';
import { compactStyles, renderPage } from '../web/document.tsx';
import { type ReferenceAddresses, reference, referenceDocuments } from './reference/reference.tsx';

/** Documents that are served besides the facts: the OpenAPI files, the API reference, pages, and their assets. */
export interface FactsDocuments {
  /** Closed list of the paths that have a document. */
  readonly routes: readonly string[];
  /**
   * Returns the response for a path in `routes`; null for any other path. The response is 304 if `ifNoneMatch` matches
   * the validator of the API reference or of a page asset, and 503 if the file cannot be read.
   */
  answer(path: string, coding: Coding, ifNoneMatch?: string): { readonly route: string; readonly reply: Reply } | null;
}

interface Document {
  readonly route: string;
  readonly file: AssetFile;
  readonly contentType: string;
  readonly headers: HeaderList;
  /** True if clients must revalidate their copy on each use; false if they may use their copy for a limited time. */
  readonly validated: boolean;
}

const cached: HeaderList = ['Cache-Control', 'public, max-age=3600'];
/**
 * Caching headers of page assets and of the API reference. Clients revalidate them on each use, so that a new page
 * never runs with the script or style of an older release.
 */
const confirmed: HeaderList = ['Cache-Control', 'public, no-cache'];
const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';
const text = 'text/plain; charset=utf-8';

/** Content security policy of the API reference. Its script may send requests to this origin only. */
const referencePolicy: HeaderList = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
];

/** Content security policy of a page without scripts. */
const textPolicy: HeaderList = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
];

/** Content security policy of a page without scripts that shows images from this origin. */
const imagesPolicy: HeaderList = textPolicy.map((value) => value.replace('img-src data:', "img-src 'self' data:"));

/** The party that reads from labelers, as identified to their operators on `/for-labelers`. */
interface LabelerReader {
  /** `User-Agent` that the instruments send with every request. */
  readonly userAgent: string;
  /** Web or mail address of the operator; null if none is set. */
  readonly contact: string | null;
}

/** Fills in the User-Agent and the contact on the page for operators of labelers. */
function describeReader(page: string, { userAgent, contact }: LabelerReader): string {
  const sentence =
    contact === null
      ? 'The operator of this service has not set a contact address.'
      : `The operator of this service can be reached at <code>${escapeText(contact)}</code>.`;
  return page.replaceAll('{user-agent}', () => escapeText(userAgent)).replaceAll('{contact}', () => sentence);
}

/**
 * Inserts the address of the service into the sample HTML on the page about images. `base` is the prefix of links. If
 * `base` is not a URL, inserts an example address and a note that asks the reader to replace it.
 */
function describeImages(page: string, base: string): string {
  const isAddress = /^https?:/.test(base);
  const address = escapeText(isAddress ? base : `https://observatory.example${base}`);
  const note = isAddress ? '' : `Replace <code>${address}</code> with the public address of this service.`;
  return page.replaceAll('{base}', () => address).replaceAll('{note}', () => note);
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/**
 * Creates the documents from the asset directory of the built program. `common` are the headers that every response
 * has. `base` is the prefix of links: the public URL, or the base path if the public URL is unknown. `accountUrl` is
 * the URL of the account view, if known.
 */
export function factsDocuments(
  assets: string,
  common: HeaderList,
  base: string,
  reader: LabelerReader,
  accountUrl: string | null = null,
): FactsDocuments {
  const addresses = referenceAddresses(base, accountUrl);
  const documents = new Map(
    documentList(assets, base, reader, addresses).map((document) => [document.route, document]),
  );
  return {
    routes: [...documents.keys()],
    answer(path, coding, ifNoneMatch) {
      const document = documents.get(path);
      if (!document) return null;
      const { route, file, contentType, headers, validated } = document;
      const found = file.bytes(coding);
      // This error does not concern a fact, so the response has no caching headers.
      if (!found) return { route, reply: errorReply('asset_unavailable', common) };
      const tag = validated ? ['ETag', found.etag] : [];
      const all = [...tag, 'Vary', 'Accept-Encoding', ...headers, ...common];
      if (validated && matchesEntityTag(ifNoneMatch, found.etag)) {
        return { route, reply: { status: 304, headers: all, body: null } };
      }
      const codingHeader = found.coding === 'identity' ? [] : ['Content-Encoding', found.coding];
      return { route, reply: withBody(200, contentType, found.bytes, [...codingHeader, ...all]) };
    },
  };
}

/**
 * Creates the API reference page. It is rendered from the OpenAPI documents once, and again only if one of them
 * changes.
 */
function referencePage(assets: string, addresses: ReferenceAddresses): Document {
  const files = referenceDocuments.map((name) => join(assets, name));
  const render = (texts: readonly Buffer[]): Buffer => Buffer.from(renderPage(reference(texts.map(String), addresses)));
  const file = assetMadeOf(files, render);
  return { route: '/docs', file, contentType: html, headers: [...confirmed, ...referencePolicy], validated: true };
}

function referenceAddresses(base: string, accountUrl: string | null): ReferenceAddresses {
  const guessed = !/^https?:/.test(base);
  return {
    facts: guessed ? `https://facts.example${base}` : base,
    account: accountUrl ?? 'https://accounts.example',
    guessed,
  };
}

function documentList(assets: string, base: string, reader: LabelerReader, addresses: ReferenceAddresses): Document[] {
  type Fill = (page: string) => string;
  const file = (name: string, fill?: Fill): AssetFile =>
    assetFile(join(assets, name), fill && ((bytes) => Buffer.from(fill(bytes.toString('utf8')))));
  const served = (
    route: string,
    name: string,
    contentType: string,
    headers: HeaderList = [],
    fill?: Fill,
  ): Document => ({
    route,
    file: file(name, fill),
    contentType,
    headers: [...cached, ...headers],
    validated: false,
  });
  const part = (name: string, path: string, contentType: string): Document => ({
    route: `/assets/${name}`,
    file: assetFile(join(assets, path), contentType === css ? compactStyles : undefined),
    contentType,
    headers: confirmed,
    validated: true,
  });
  return [
    served(paths.openapi, 'openapi.json', jsonType),
    served(labelerPaths.openapi, 'labelers-openapi.json', jsonType),
    served('/robots.txt', 'robots.txt', text),
    served('/llms.txt', 'llms.txt', text, [], (page) => page.replaceAll('{base}', base)),
    part('almanac.css', 'almanac.css', css),
    part('observatory.css', 'observatory.css', css),
    part('labelers.css', 'labelers.css', css),
    part('observatory.js', 'built/observatory.js', script),
    part('charts.js', 'built/charts.js', script),
    referencePage(assets, addresses),
    part('docs.js', 'docs.js', script),
    part('docs.css', 'docs.css', css),
    served('/method/weather', 'method-weather.html', html, textPolicy),
    served('/method/labels', 'method-labels.html', html, textPolicy),
    served('/policy', 'policy.html', html, textPolicy),
    served('/embeds', 'embeds.html', html, imagesPolicy, (page) => describeImages(page, base)),
    part('card.png', 'card.png', 'image/png'),
    served('/for-labelers', 'for-labelers.html', html, textPolicy, (page) => describeReader(page, reader)),
  ];
}
