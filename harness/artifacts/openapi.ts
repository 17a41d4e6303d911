import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

/** Validates responses against an OpenAPI file in the asset directory, as a client generated from that file would. */

interface Operation {
  parameters?: { $ref: string }[];
  responses: Record<string, Response | { $ref: string }>;
}
interface Response {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: object }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, Response>;
    schemas: Record<string, object>;
    parameters: Record<string, { name: string; in: string }>;
  };
}

const addFormats = addFormatsModule.default;

/**
 * Forbids additional properties in every object schema that lists its properties and does not set
 * `additionalProperties`. The document permits additional fields, but this version publishes none.
 */
export function closed<T>(node: T): T {
  if (Array.isArray(node)) return node.map(closed) as T;
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.fromEntries(Object.entries(node).map(([key, member]) => [key, closed(member)]));
  const open = members.type === 'object' && 'properties' in members && !('additionalProperties' in members);
  return (open ? { ...members, additionalProperties: false } : members) as T;
}

function describedBy(file: string) {
  const document = JSON.parse(readFileSync(new URL(`../../assets/${file}`, import.meta.url), 'utf8')) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats(ajv);
  ajv.addSchema(closed(document), file);
  const validators = new Map<string, ValidateFunction>();

  function described(method: string, path: string, status: number): Response | null {
    const found = document.paths[path]?.[method]?.responses[String(status)];
    if (!found) return null;
    if (!('$ref' in found)) return found;
    return document.components.responses[found.$ref.replace('#/components/responses/', '')] ?? null;
  }

  function validator(response: Response): ValidateFunction | null {
    const schema = response.content?.['application/json']?.schema as { $ref?: string } | undefined;
    const reference = schema?.$ref;
    if (!reference) return null;
    const known = validators.get(reference) ?? ajv.compile({ $ref: `${file}${reference}` });
    validators.set(reference, known);
    return known;
  }

  return {
    document,

    /** Returns the differences between a response body and its description, or an empty list if they match. */
    faults(method: string, path: string, status: number, body: unknown): string[] {
      const response = described(method, path, status);
      if (!response) return [`status ${status} of ${method} ${path} is not documented`];
      const validate = validator(response);
      if (!validate) return body === null ? [] : ['the body is not documented'];
      return validate(body) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
    },

    /** Returns the names of a path's query parameters. */
    parameters(path: string): string[] {
      const { parameters = [] } = document.paths[path]?.get ?? {};
      const named = parameters.map(
        ({ $ref }) => document.components.parameters[$ref.replace('#/components/parameters/', '')],
      );
      return named.flatMap((parameter) => (parameter?.in === 'query' ? [parameter.name] : []));
    },

    /**
     * Returns the content types that the document allows for a response, or an empty list if the document does not
     * describe the status.
     */
    contentTypes(method: string, path: string, status: number): string[] {
      return Object.keys(described(method, path, status)?.content ?? {});
    },

    /** Returns the headers that the document allows for a response, in lower case. */
    headers(method: string, path: string, status: number): string[] {
      return Object.keys(described(method, path, status)?.headers ?? {}).map((name) => name.toLowerCase());
    },
  };
}

/** The OpenAPI document of the facts API. */
export const openApi = describedBy('openapi.json');

/** The OpenAPI document of the account-view surface. */
export const accountOpenApi = describedBy('account-openapi.json');

/** The OpenAPI document of the labeler documents. */
export const labelersOpenApi = describedBy('labelers-openapi.json');
