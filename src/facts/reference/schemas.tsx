import { Fragment } from 'preact';
import { type ApiDocument, type Call, fieldsOf, type Schema, type TypePart, typeOf } from './openapi.ts';

/** Shows a type with its units and values, and links to other schemas. */
export function TypeText({ type, anchors }: { type: readonly TypePart[]; anchors: Part['anchors'] }) {
  return (
    <>
      {type.map((part, at) => {
        if ('schema' in part) {
          return (
            <a key={at} href={`#${anchors.get(part.schema) ?? part.schema}`}>
              {part.schema}
            </a>
          );
        }
        if ('value' in part) return <code key={at}>{part.value}</code>;
        return <Fragment key={at}>{'unit' in part ? part.unit : part.text}</Fragment>;
      })}
    </>
  );
}

/** Shows the schemas that the page lists in a part, with the description of each field. */
export function Schemas({ part }: { part: Part }) {
  const { schemas } = part.document.components;
  return (
    <>
      {part.shown.map(([name, schema]) => (
        <section key={name}>
          <h3 id={part.anchors.get(name)}>{name}</h3>
          <p>
            <Text of={schema.description ?? ''} />
            {schema.anyOf ? (
              <>
                {' Either '}
                <TypeText type={typeOf(schema, name)} anchors={part.anchors} />.
              </>
            ) : null}
          </p>
          <Fields name={name} schema={schema} schemas={schemas} anchors={part.anchors} />
        </section>
      ))}
    </>
  );
}

interface FieldsProps {
  readonly name: string;
  readonly schema: Schema;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly anchors: Part['anchors'];
}

function Fields({ name, schema, schemas, anchors }: FieldsProps) {
  const fields = fieldsOf(name, schema, schemas);
  if (fields.length === 0) return null;
  return (
    <dl>
      {fields.map(({ path, type, meaning, required, deprecated }) => (
        <Fragment key={path}>
          <dt>
            <code>{path}</code>{' '}
            <span class="soft">
              <TypeText type={type} anchors={anchors} />
              {required ? null : '; may be absent'}
              {deprecated ? '; deprecated' : null}
            </span>
          </dt>
          <dd>
            <Text of={meaning} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

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
