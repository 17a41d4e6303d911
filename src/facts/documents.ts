import { join } from 'node:path';
import { paths } from '../contract/identifiers.ts';
import type { Coding } from '../http/accept-encoding.ts';
import { type AssetFile, assetFile } from '../http/asset-file.ts';
import type { HeaderList } from '../http/headers.ts';
import { errorReply, jsonType, type Reply, withBody } from '../http/reply.ts';

/** The documents beside the facts: the OpenAPI file, the API reference, and the assets that its page loads. */
export interface FactsDocuments {
  /** All paths of the list. */
  readonly routes: readonly string[];
  /** The answer for a path of the closed list, or null when the path is not on it. */
  answer(path: string, coding: Coding): { readonly route: string; readonly reply: Reply } | null;
}

interface Document {
  readonly route: string;
  readonly file: AssetFile;
  readonly contentType: string;
  readonly headers: HeaderList;
}

const cached: HeaderList = ['Cache-Control', 'public, max-age=3600'];
const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';
const text = 'text/plain; charset=utf-8';

/** The reference's renderer sets styles of its own making; everything else comes from this origin alone. */
const pagePolicy: HeaderList = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
];

/** A page without scripts. */
const textPolicy: HeaderList = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
];

/**
 * The documents in the asset folder of the built program. `common` are the headers of every response, `base` is
 * the address that links start with: the public URL, or the base path where none is known.
 */
export function factsDocuments(assets: string, common: HeaderList, base: string): FactsDocuments {
  const served = (route: string, file: string, contentType: string, headers: HeaderList = []): [string, Document] => [
    route,
    { route, file: assetFile(join(assets, file)), contentType, headers: [...cached, ...headers] },
  ];
  const linked = (route: string, file: string, contentType: string): [string, Document] => {
    const link = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('utf8').replaceAll('{base}', base));
    return [route, { route, file: assetFile(join(assets, file), link), contentType, headers: cached }];
  };
  const documents = new Map<string, Document>([
    served(paths.openapi, 'openapi.json', jsonType),
    linked('/llms.txt', 'llms.txt', text),
    served('/assets/almanac.css', 'almanac.css', css),
    served('/assets/observatory.css', 'observatory.css', css),
    served('/assets/observatory.js', 'built/observatory.js', script),
    served('/docs', 'docs.html', html, pagePolicy),
    served('/assets/docs.js', 'docs.js', script),
    served('/assets/docs.css', 'docs.css', css),
    served('/assets/swagger-ui-bundle.js', 'vendor/swagger-ui/swagger-ui-bundle.js', script),
    served('/assets/swagger-ui.css', 'vendor/swagger-ui/swagger-ui.css', css),
    served('/assets/swagger-ui-license.txt', 'vendor/swagger-ui/LICENSE', text),
    served('/policy', 'policy.html', html, textPolicy),
  ]);

  return {
    routes: [...documents.keys()],
    answer(path, coding) {
      const document = documents.get(path);
      if (!document) return null;
      const { route, file, contentType, headers } = document;
      const found = file.bytes(coding);
      // A missing document says nothing about the facts, so nothing is said about storing the answer.
      if (!found) return { route, reply: errorReply('asset_unavailable', common) };
      const codingHeader = found.coding === 'identity' ? [] : ['Content-Encoding', found.coding];
      const all = [...codingHeader, 'Vary', 'Accept-Encoding', ...headers, ...common];
      return { route, reply: withBody(200, contentType, found.bytes, all) };
    },
  };
}
