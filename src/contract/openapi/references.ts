import type Type from 'typebox';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Returns the schema components of a document. A nested schema whose title is the name of a component becomes a
 * reference. Unlike the closed schemas of the types, the components are open objects, because a later version may add
 * fields (compatibility policy).
 */
export function schemaComponents(components: Readonly<Record<string, Type.TSchema>>): Record<string, Json> {
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
