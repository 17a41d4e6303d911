/** Types of the parts of an OpenAPI document of this program that the reference page shows. */

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
export interface Content {
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

/** Parses a document. It is part of the built program, so its shape needs no check. */
export function parseDocument(text: string): ApiDocument {
  return JSON.parse(text) as ApiDocument;
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
export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

function resolved<T extends object>(one: T | Ref, components: Readonly<Record<string, T>>): T {
  if (!('$ref' in one)) return one;
  const found = components[nameOf(one.$ref)];
  if (found === undefined) throw new Error(`the document has no component ${one.$ref}`);
  return found;
}
