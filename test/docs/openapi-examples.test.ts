import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { closed } from '../../harness/artifacts/openapi.ts';
import { root } from '../../harness/process/imports.ts';

/**
 * Validates every example in the OpenAPI documents in strict mode, which also rejects unknown keywords. Objects accept
 * no undescribed field.
 */

interface Example {
  /** JSON pointer of the object that contains the example and its schema. */
  readonly pointer: string;
  readonly value: unknown;
}

function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Returns the examples of all media types, headers and parameters below a node. */
function examplesBelow(node: unknown, pointer: string): Example[] {
  if (typeof node !== 'object' || node === null) return [];
  const { schema, example, examples } = node as { schema?: unknown; example?: unknown; examples?: object };
  if (schema !== undefined && (example !== undefined || examples !== undefined)) {
    const several = Object.values(examples ?? {}).map((entry: { value: unknown }) => entry.value);
    return [...(example === undefined ? [] : [example]), ...several].map((value) => ({ pointer, value }));
  }
  return Object.entries(node).flatMap(([key, child]) => examplesBelow(child, `${pointer}/${escaped(key)}`));
}

describe.each([
  ['openapi.json', 30],
  ['account-openapi.json', 30],
  ['labelers-openapi.json', 1],
])('assets/%s', (file, atLeast) => {
  const document = JSON.parse(readFileSync(join(root, 'assets', file), 'utf8')) as object;
  const ajv = new Ajv2020({ strict: true, allErrors: true, strictTypes: false });
  addFormatsModule.default(ajv);
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(closed(document), file);
  const examples = examplesBelow(document, '');

  it('has only examples that conform to their schemas', () => {
    expect(examples.length).toBeGreaterThanOrEqual(atLeast);
    const faults = examples.flatMap(({ pointer, value }) => {
      const validate = ajv.compile({ $ref: `${file}#${pointer}/schema` });
      return validate(value) ? [] : [`${pointer}: ${ajv.errorsText(validate.errors)}`];
    });
    expect(faults).toEqual([]);
  });

  it('has an example for every response with a JSON body', () => {
    const { paths, components } = document as {
      paths: Record<string, Record<string, { responses: Record<string, Body> }>>;
      components: { responses: Record<string, Body> };
    };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses ?? {}).map(([status, response]) => [`${method} ${path} ${status}`, response] as const),
      ),
    );
    const without = [...operations, ...Object.entries(components.responses)].filter(([, { content }]) => {
      const json = content?.['application/json'];
      return json !== undefined && json.example === undefined && json.examples === undefined;
    });
    // The document has no example of its own response.
    const names = without.map(([name]) => name);
    expect(names.filter((name) => !name.endsWith('/openapi.json 200'))).toEqual([]);
  });
});

interface Body {
  readonly content?: Record<string, { readonly example?: unknown; readonly examples?: object }>;
}
