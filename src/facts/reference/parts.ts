import { type ApiDocument, type Call, callsOf, type Schema } from './openapi.ts';

/** One OpenAPI document on the reference page. */
export interface Part {
  readonly id: 'facts' | 'labelers' | 'account';
  readonly title: string;
  readonly document: ApiDocument;
  readonly calls: readonly Call[];
  /** Base address of the programs. */
  readonly base: string;
  /** Address of the document itself. */
  readonly source: string;
  /** True if the paths are on the origin of the page, so that the page can link to them and try them. */
  readonly sameOrigin: boolean;
  /** Identifiers of the part's schemas on the page. Equal schemas of several documents are shown once. */
  readonly anchors: ReadonlyMap<string, string>;
  /** Schemas that the page shows in this part. */
  readonly shown: readonly (readonly [name: string, schema: Schema])[];
}

/** A part before its schemas have their places on the page. */
export type PartSource = Pick<Part, 'id' | 'title' | 'document' | 'base' | 'source' | 'sameOrigin'>;

/** Assigns identifiers to the schemas of all parts. */
export function arranged(sources: readonly PartSource[]): Part[] {
  const places = new Map<string, { readonly text: string; readonly anchor: string }>();
  return sources.map((source) => {
    const anchors = new Map<string, string>();
    const shown: (readonly [string, Schema])[] = [];
    for (const [name, schema] of Object.entries(source.document.components.schemas)) {
      const text = JSON.stringify(schema);
      const known = places.get(name);
      const anchor = known?.text === text ? known.anchor : known ? `${source.id}-${name}` : name;
      anchors.set(name, anchor);
      if (known?.text === text) continue;
      shown.push([name, schema]);
      if (!known) places.set(name, { text, anchor });
    }
    return { ...source, calls: callsOf(source.document), anchors, shown };
  });
}

/** Returns the identifier of a call on the page. */
export function callAnchor(part: Pick<Part, 'id'>, { operation }: Call): string {
  return `${part.id}-${operation.operationId}`;
}

/** Returns the identifier of an error code on the page. */
export function errorAnchor(code: string): string {
  return `error-${code}`;
}
