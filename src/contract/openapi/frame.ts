import type Type from 'typebox';

/** Parts that the OpenAPI documents of all APIs share. */

/** A path that can be read with GET, with its description in the document. */
export interface Resource {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly object[];
  /** Parameters within the path; they apply to every method. */
  readonly pathParameters?: readonly object[];
  readonly ok: { readonly description: string; readonly headers: object; readonly content: object };
  /** All responses to GET other than 200, by status. */
  readonly more: Readonly<Record<string, Reference>>;
}

/** A reference to a component of the document. */
interface Reference {
  readonly $ref: string;
}

/** Possible responses to a CORS preflight request. */
interface PreflightResponses {
  readonly '204': Reference;
  readonly '405': Reference;
}

/** Returns the path items of a document: GET, HEAD and OPTIONS (preflight) for each path. */
export function pathItemsOf(resources: Readonly<Record<string, Resource>>, preflight: PreflightResponses): object {
  return Object.fromEntries(Object.entries(resources).map(([path, resource]) => [path, pathItem(resource, preflight)]));
}

function pathItem(resource: Resource, preflight: PreflightResponses) {
  const { id, tag, summary, description, ok, more, parameters, pathParameters } = resource;
  const common = { tags: [tag], ...(parameters ? { parameters } : {}) };
  return {
    ...(pathParameters ? { parameters: pathParameters } : {}),
    get: { operationId: `get${id}`, summary, description, ...common, responses: { '200': ok, ...more } },
    head: {
      operationId: `head${id}`,
      summary: `Headers of GET: ${summary}`,
      description: 'Same status and headers as GET, Content-Length included, without a body.',
      ...common,
      responses: Object.fromEntries(
        ['200', ...Object.keys(more)].map((status) => [status, { description: 'As GET, without a body.' }]),
      ),
    },
    options: {
      operationId: `options${id}`,
      summary: `Preflight: ${summary}`,
      description: 'The preflight response is the same on every path.',
      tags: [tag],
      responses: preflight,
    },
  };
}

/** Parts of an OpenAPI document that differ between the APIs. */
interface DocumentParts {
  readonly title: string;
  /** Version of the package. */
  readonly version: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: object;
  readonly schemas: Readonly<Record<string, Type.TSchema>>;
  readonly responses: object;
  readonly headers: object;
  readonly parameters: object;
}

/** Returns a complete OpenAPI 3.1.0 document. */
export function openApiFrame(parts: DocumentParts): object {
  const { title, version, summary, description, tags, paths, schemas, responses, headers, parameters } = parts;
  return {
    openapi: '3.1.0',
    info: { title, version, summary, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '.', description: 'The base URL that this document was read from.' }],
    security: [],
    tags,
    paths,
    components: { schemas: schemaComponents(schemas), responses, headers, parameters },
  };
}

/** Returns a header component with a string value. */
export const textHeader = (description: string, example: string) => ({
  description,
  schema: { type: 'string' },
  example,
});

/** Header components that have the same meaning in every API. */
export const commonHeaders = {
  AccessControlAllowOrigin: textHeader('On every response: any origin may read.', '*'),
  AccessControlAllowMethods: textHeader('Response to a preflight.', 'GET, HEAD, OPTIONS'),
  AccessControlAllowHeaders: textHeader('Response to a preflight.', 'If-None-Match'),
  AccessControlMaxAge: textHeader('How long a preflight response may be cached, in seconds.', '86400'),
  Allow: textHeader('The methods of this service.', 'GET, HEAD, OPTIONS'),
  XContentTypeOptions: textHeader('On every response.', 'nosniff'),
  AcceptRanges: textHeader('On every response: ranges are not evaluated.', 'none'),
  Date: textHeader('When the response was sent.', 'Fri, 20 Nov 2026 12:00:31 GMT'),
  ContentLength: textHeader('Length of the body. For HEAD, the length of the body that GET returns.', '2351'),
} as const;

/** HTTP names of the common headers. */
export const commonHeaderNames: Readonly<Record<keyof typeof commonHeaders | 'AccessControlExposeHeaders', string>> = {
  AccessControlAllowOrigin: 'Access-Control-Allow-Origin',
  AccessControlExposeHeaders: 'Access-Control-Expose-Headers',
  AccessControlAllowMethods: 'Access-Control-Allow-Methods',
  AccessControlAllowHeaders: 'Access-Control-Allow-Headers',
  AccessControlMaxAge: 'Access-Control-Max-Age',
  Allow: 'Allow',
  XContentTypeOptions: 'X-Content-Type-Options',
  AcceptRanges: 'Accept-Ranges',
  Date: 'Date',
  ContentLength: 'Content-Length',
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Returns the schema components of a document. A nested schema whose title is the name of a component becomes a
 * reference. Unlike the closed schemas of the types, the components are open objects, because a later version may add
 * fields (compatibility policy).
 */
function schemaComponents(components: Readonly<Record<string, Type.TSchema>>): Record<string, Json> {
  const names = Object.keys(components);
  function withReferences(node: Json, owner: string | null): Json {
    if (Array.isArray(node)) return node.map((member) => withReferences(member, null));
    if (typeof node !== 'object' || node === null) return node;
    const component = names.find((name) => name === node.title && name !== owner);
    if (component !== undefined) return { $ref: `#/components/schemas/${component}` };
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key, member]) => !(key === 'additionalProperties' && member === false))
        .map(([key, member]) => [key, withReferences(member, null)]),
    );
  }
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => [name, withReferences(plain(schema), name)]),
  );
}

function plain(schema: Type.TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

/** Converts examples to the named examples of an OpenAPI document. */
export function named(values: Readonly<Record<string, unknown>>): Record<string, { value: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}
