import { Fragment } from 'preact';

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

// The OpenAPI documents of this program, and the fields of their schemas.

/** A reference to a component of the same document. */
interface Ref {
  readonly $ref: string;
}

/** A JSON Schema, with the keywords that the documents of this program use. */
export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly (string | number)[];
  readonly const?: string | number | boolean;
  readonly deprecated?: boolean;
  readonly default?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A parameter of a call. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string;
}

/** The body of a response, with examples. */
interface Content {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** A response of a call. */
export interface ResponseObject {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

/** The GET operation of a path. */
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (Parameter | Ref)[];
  readonly responses: Readonly<Record<string, ResponseObject | Ref>>;
}

/** An OpenAPI document of this program. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<
    Record<string, { readonly get: Operation; readonly parameters?: readonly (Parameter | Ref)[] }>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

/** One call: a path with its GET operation and all of its parameters. */
export interface Call {
  readonly path: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
  readonly responses: readonly (readonly [status: string, response: ResponseObject])[];
}

/**
 * Returns the calls of a document in its order, with references resolved. Throws if a referenced component does not
 * exist.
 */
export function callsOf({ paths, components }: ApiDocument): Call[] {
  return Object.entries(paths).map(([path, item]) => ({
    path,
    operation: item.get,
    parameters: [...(item.parameters ?? []), ...(item.get.parameters ?? [])].map((one) =>
      resolved(one, components.parameters),
    ),
    responses: Object.entries(item.get.responses).map(
      ([status, one]) => [status, resolved(one, components.responses)] as const,
    ),
  }));
}

/** Returns the name of the component to which a reference points. */
function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

function resolved<T extends object>(one: T | Ref, components: Readonly<Record<string, T>>): T {
  if (!('$ref' in one)) return one;
  const found = components[nameOf(one.$ref)];
  if (found === undefined) throw new Error(`the document has no component ${one.$ref}`);
  return found;
}

/** One field of a schema, as the reference page shows it. */
interface Field {
  /** Path of the field within its schema. Nested objects without a schema name are part of the path. */
  readonly path: string;
  readonly type: readonly TypePart[];
  readonly meaning: string;
  readonly required: boolean;
  readonly deprecated: boolean;
}

/** Part of a type: plain text, a literal value, the name of another schema, or a unit. */
type TypePart =
  | { readonly text: string }
  | { readonly value: string }
  | { readonly schema: string }
  | { readonly unit: string };

/** Returns the fields of a schema. The fields of nested objects without a schema name follow their object. */
export function fieldsOf(name: string, schema: Schema, schemas: Readonly<Record<string, Schema>>): Field[] {
  return below(schema, '', name, schemas);
}

function below(schema: Schema, prefix: string, name: string, schemas: Readonly<Record<string, Schema>>): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const path = `${prefix}${key}`;
    const own: Field = {
      path,
      type: typeOf(field, `${name}.${path}`),
      meaning: meaningOf(field, schemas),
      required: schema.required?.includes(key) ?? false,
      deprecated: field.deprecated ?? false,
    };
    const { inner, list } = innerOf(field);
    return [own, ...(inner ? below(inner, `${path}${list ? '[]' : ''}.`, name, schemas) : [])];
  });
}

/**
 * Returns the description of a field. If the field has none, returns the description of the schema to which it refers.
 */
function meaningOf({ description, $ref }: Schema, schemas: Readonly<Record<string, Schema>>): string {
  return description ?? ($ref === undefined ? undefined : schemas[nameOf($ref)]?.description) ?? '';
}

/**
 * Returns the nested object of a field if it has no schema name; the object can be the value, the element of a list, or
 * an alternative to null.
 */
function innerOf(field: Schema): { inner: Schema | null; list: boolean } {
  if (field.properties) return { inner: field, list: false };
  if (field.items?.properties) return { inner: field.items, list: true };
  return { inner: field.anyOf?.find(({ properties }) => properties) ?? null, list: false };
}

/** Returns the type of a value. `path` is the path of the value, which determines the unit of a number. */
export function typeOf(schema: Schema, path: string): TypePart[] {
  if (schema.$ref !== undefined) return [{ schema: nameOf(schema.$ref) }];
  if (schema.anyOf) {
    return schema.anyOf.flatMap((one, at) => [...(at === 0 ? [] : [{ text: ' or ' }]), ...typeOf(one, path)]);
  }
  if (schema.const !== undefined) return [{ text: 'always ' }, { value: String(schema.const) }];
  if (schema.enum) {
    return schema.enum.flatMap((one, at) => [...(at === 0 ? [] : [{ text: ', ' }]), { value: String(one) }]);
  }
  if (schema.type === 'array' && schema.items) {
    const most = schema.maxItems === undefined ? '' : ` (at most ${schema.maxItems})`;
    return [{ text: `list${most} of ` }, ...typeOf(schema.items, path)];
  }
  return scalar(schema, path);
}

function scalar({ type, format, pattern, maxLength, patternProperties }: Schema, path: string): TypePart[] {
  if (patternProperties) return [{ text: 'object that maps names to numbers, ' }, { unit: unitOf(path) ?? '' }];
  if (type === 'integer' || type === 'number') {
    const unit = unitOf(path);
    return [{ text: type }, ...(unit === null ? [] : [{ text: ', ' }, { unit }])];
  }
  if (type === 'string' && format === 'date-time') return [{ text: 'instant, RFC 3339' }];
  if (type === 'string' && format === 'uuid') return [{ text: 'UUID' }];
  if (pattern?.startsWith('^did:')) return [{ text: 'DID' }];
  if (pattern?.startsWith('^[0-9]{4}-')) return [{ text: 'UTC day, YYYY-MM-DD' }];
  const most = maxLength === undefined ? '' : ` (at most ${maxLength} characters)`;
  return [{ text: `${type ?? 'any value'}${most}` }];
}

/**
 * Units of the numbers in the documents. Each rule matches a schema name followed by the path of a field. The first
 * rule that matches applies.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  [/_seconds$/, 'seconds'],
  [/_minutes$/, 'minutes'],
  [/_days(_7d)?$/, 'days'],
  [/_per_s$/, 'events per second'],
  [/_ms\.p\d+$/, 'milliseconds'],
  [/_ms\.labels$/, 'labels'],
  [/_(ratio|share|threshold)$/, 'fraction of one'],
  [/_windows$/, 'windows'],
  [/error\.status$/, 'HTTP status'],
  [/^LabelerDefinitions\.|values_omitted$/, 'values'],
  [/_skipped$|(^|\.|_)rows$|repeats$|^(ExportLastPage|AccountDownload)\.count$|count_bound$/, 'rows'],
  [/alert/, 'alerts'],
  [/top_labelers_7d\[\]\.count$|^LabelCounts\.events|^LabelerEvents\.|^LabelerDay\.|signatures\./, 'events'],
  [/(^|\.)total$|^LabelerValue\.events$|undeclared$/, 'events'],
  [/(^|\.)(attempts|successes)$/, 'attempts'],
  [/^CoverageSources\./, 'sources'],
  [/census|labeler|omitted$|^LabelerStateCounts\./, 'labelers'],
];

/** Returns the unit of a number; null if no rule matches. `path` begins with the name of the schema. */
function unitOf(path: string): string | null {
  return rules.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
