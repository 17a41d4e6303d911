import { Fragment } from 'preact';
import type { ApiDocument, Call, Schema } from './openapi.ts';

/** Shows a sentence of a document. Text between backquotes is shown as code. */
export function Text({ of }: { of: string }) {
  return (
    <>
      {of
        .split('`')
        .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : <Fragment key={at}>{part}</Fragment>))}
    </>
  );
}

/** One OpenAPI document, as the reference page shows it. */
export interface Part {
  readonly id: 'facts' | 'labelers' | 'account';
  readonly title: string;
  readonly document: ApiDocument;
  readonly calls: readonly Call[];
  /** Base URL that the sample programs use. */
  readonly base: string;
  /** URL of the document itself. */
  readonly source: string;
  /** True if the paths have the same origin as the page, so that the page can link to them and try them out. */
  readonly sameOrigin: boolean;
  /** Element ids of the part's schemas on the page. A schema that several documents share is shown once. */
  readonly anchors: ReadonlyMap<string, string>;
  /** Schemas that the page shows in this part, excluding those that an earlier part shows. */
  readonly shown: readonly (readonly [name: string, schema: Schema])[];
}

/** A part before its schemas are assigned to parts of the page. */
export type PartSource = Pick<Part, 'id' | 'title' | 'document' | 'base' | 'source' | 'sameOrigin'>;

/** Returns the element id of a call. */
export function callAnchor(part: Pick<Part, 'id'>, { operation }: Call): string {
  return `${part.id}-${operation.operationId}`;
}

/** Returns the element id of an error code. */
export function errorAnchor(code: string): string {
  return `error-${code}`;
}
