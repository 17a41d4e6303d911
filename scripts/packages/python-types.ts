/** The parts of an OpenAPI schema on which the types of the Python client depend. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

const head = `"""The shapes of the facts API. Generated from its OpenAPI document: npm run generate."""

from typing import Dict, List, Literal, Optional, TypedDict, Union
`;

const simple: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

/**
 * Returns the types of the Python client: one TypedDict for each object of the OpenAPI document, for Python 3.9 and
 * later. A field that may be missing is in a class with `total=False`, because `NotRequired` requires a Python newer
 * than 3.9.
 */
export function pythonTypes(document: object): string {
  const { schemas } = (document as { components: { schemas: Readonly<Record<string, Schema>> } }).components;
  const written = new Map<string, string>();

  function typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return referred(schema.$ref.replace('#/components/schemas/', ''));
    if (schema.const !== undefined) return `Literal[${quoted(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(quoted).join(', ')}]`;
    if (schema.anyOf) return union(schema.anyOf, name);
    if (schema.type === 'array') return `List[${typeOf(schema.items ?? {}, name)}]`;
    if (schema.type !== 'object') return simple[schema.type ?? ''] ?? 'object';
    if (schema.properties) return defined(name, schema);
    const [values] = Object.values(schema.patternProperties ?? {});
    return `Dict[str, ${values ? typeOf(values, name) : 'object'}]`;
  }

  function union(members: readonly Schema[], name: string): string {
    const types = members.filter(({ type }) => type !== 'null').map((member) => typeOf(member, name));
    const joined = types.length === 1 ? types.join('') : `Union[${types.join(', ')}]`;
    return types.length === members.length ? joined : `Optional[${joined}]`;
  }

  function referred(name: string): string {
    return typeOf(schemas[name] ?? {}, name);
  }

  function defined(name: string, schema: Schema): string {
    if (written.has(name)) return name;
    const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => ({
      key,
      type: typeOf(field, name + pascal(key)),
      required: schema.required?.includes(key) === true,
      description: field.description,
    }));
    written.set(name, classOf(name, schema.description, fields));
    return name;
  }

  for (const name of Object.keys(schemas)) referred(name);
  return [head, ...written.values()].join('\n\n');
}

/** Returns the module with the version of the Python client, which equals the version of the program. */
export function pythonVersion(version: string): string {
  return `"""The version of this package. Generated from package.json: npm run generate."""\n\n__version__ = "${version}"\n`;
}

interface Field {
  readonly key: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string | undefined;
}

function classOf(name: string, description: string | undefined, fields: readonly Field[]): string {
  if (fields.some(({ key }) => !/^[a-z_]\w*$/.test(key))) return functional(name, fields);
  const required = fields.filter((field) => field.required);
  const optional = fields.filter((field) => !field.required);
  const doc = description === undefined ? '' : `    """${description}"""\n\n`;
  if (optional.length === 0) return `class ${name}(TypedDict):\n${doc}${body(required)}`;
  if (required.length === 0) return `class ${name}(TypedDict, total=False):\n${doc}${body(optional)}`;
  const base = `_${name}`;
  return `class ${base}(TypedDict):\n${body(required)}\n\nclass ${name}(${base}, total=False):\n${doc}${body(optional)}`;
}

/**
 * Returns the definition of an object whose keys are not valid identifiers. Each of its fields may be missing. Throws
 * if a field is required.
 */
function functional(name: string, fields: readonly Field[]): string {
  if (fields.some(({ required }) => required))
    throw new Error(`${name} has required fields that are not valid identifiers`);
  const lines = fields.map(({ key, type }) => `        ${quoted(key)}: ${type},\n`);
  return `${name} = TypedDict(\n    ${quoted(name)},\n    {\n${lines.join('')}    },\n    total=False,\n)\n`;
}

function body(fields: readonly Field[]): string {
  return fields.map(({ key, type, description }) => `${comment(description)}    ${key}: ${type}\n`).join('');
}

function comment(description: string | undefined): string {
  return description === undefined ? '' : `    #: ${description.replaceAll('\n', '\n    #: ')}\n`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function pascal(key: string): string {
  return key.replaceAll(/(?:^|_)([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
