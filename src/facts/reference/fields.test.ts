import { describe, expect, it } from 'vitest';

import { fieldsOf, type Schema } from './schemas.tsx';

const schemas: Record<string, Schema> = {
  Part: { type: 'object', description: 'A part.', properties: { end: { type: 'string', format: 'date-time' } } },
  Whole: {
    type: 'object',
    required: ['parts'],
    properties: {
      parts: {
        type: 'array',
        maxItems: 3,
        description: 'Parts.',
        items: { type: 'object', properties: { age_seconds: { type: 'number', description: 'Age.' } } },
      },
      part: { $ref: '#/components/schemas/Part' },
      maybe: { anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }], deprecated: true },
    },
  },
};

describe('the fields of a schema', () => {
  const fields = fieldsOf('Whole', schemas.Whole ?? {}, schemas);

  it('include the fields of nested objects without a schema name, listed after their object', () => {
    expect(fields.map(({ path }) => path)).toEqual(['parts', 'parts[].age_seconds', 'part', 'maybe']);
  });

  it('have types with units and limits, and links to other schemas', () => {
    const types = Object.fromEntries(fields.map(({ path, type }) => [path, type]));
    expect(types['parts[].age_seconds']).toEqual([{ text: 'number' }, { text: ', ' }, { unit: 'seconds' }]);
    expect(types.parts?.[0]).toEqual({ text: 'list (at most 3) of ' });
    expect(types.maybe).toEqual([{ schema: 'Part' }, { text: ' or ' }, { text: 'null' }]);
  });

  it('have the description of the schema to which they refer, unless they have their own description', () => {
    expect(fields.map(({ meaning }) => meaning)).toEqual(['Parts.', 'Age.', 'A part.', '']);
    expect(fields.map(({ required, deprecated }) => [required, deprecated])).toEqual([
      [true, false],
      [false, false],
      [false, false],
      [false, true],
    ]);
  });
});
