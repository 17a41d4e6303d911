import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonLimits, scanJson } from './json-budget.ts';

const generous: JsonLimits = { depth: 200, elements: 1_000_000, fields: 1_000_000 };
const scan = (text: string, limits: Partial<JsonLimits> = {}) =>
  scanJson(Buffer.from(text), { ...generous, ...limits });

interface Count {
  elements: number;
  depth: number;
  fields: number;
}

/** Counts the items of a parsed document. */
function count(value: unknown): Count {
  if (typeof value !== 'object' || value === null) return { elements: 1, depth: 0, fields: 0 };
  const children = Object.values(value).map(count);
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return {
    elements: children.reduce((sum, { elements }) => sum + elements, 1 + keys),
    depth: 1 + Math.max(0, ...children.map(({ depth }) => depth)),
    fields: Math.max(keys, ...children.map(({ fields }) => fields)),
  };
}

/** Generates JSON documents, some of them with white space between the elements. */
const documents = fc
  .tuple(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1, '\t', '  \n'))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe('scanJson', () => {
  test('counts exactly the items that a parser returns for a document', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const value: unknown = JSON.parse(text);
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const topFields = isObject ? Object.keys(value).length : 0;
        expect(scan(text)).toEqual({ fault: null, elements: count(value).elements, topFields });
      }),
      { numRuns: 2_000 },
    );
  });

  test('refuses a document if and only if it exceeds a limit', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const { elements, depth, fields } = count(JSON.parse(text));
        expect(scan(text, { elements, depth, fields }).fault).toBeNull();
        expect(scan(text, { elements: elements - 1 }).fault).toBe('too_many_elements');
        if (depth > 0) expect(scan(text, { depth: depth - 1 }).fault).toBe('too_deep');
        if (fields > 0) expect(scan(text, { fields: fields - 1 }).fault).toBe('too_many_fields');
      }),
      { numRuns: 2_000 },
    );
  });

  test('never counts fewer elements than a parser returns, for any text that it accepts', () => {
    const alphabet = fc.constantFrom(
      ...'[]{}",:\\ \n\t01e-.',
      'true',
      'null',
      '"a"',
      '"\\""',
      '"\\\\"',
      '\\u0022',
      'é',
    );
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 14 }), (parts) => {
        const text = parts.join('');
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          return;
        }
        expect(scan(text).elements).toBeGreaterThanOrEqual(count(value).elements);
      }),
      { numRuns: 20_000 },
    );
  });

  test('counts a repeated key of the outermost object as a further field', () => {
    expect(scan('{"a":{"b":1,"b":2},"a" : [{"a":1}],"\\u0061":":"}').topFields).toBe(3);
  });

  test('scans any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(scanJson(bytes, { depth: 4, elements: 20, fields: 5 })).toHaveProperty('elements');
      }),
    );
  });

  test.each([
    ['5,000 open arrays', '['.repeat(5_000), { depth: 64 }, 'too_deep'],
    ['closing brackets before opening ones', `${']'.repeat(99)}${'['.repeat(65)}`, { depth: 64 }, 'too_deep'],
    ['3.9 million empty arrays', `[${'[],'.repeat(3_900_000)}[]]`, { elements: 65_536 }, 'too_many_elements'],
    ['empty strings', `[${'"",'.repeat(70_000)}1]`, { elements: 65_536 }, 'too_many_elements'],
    ['one-digit numbers', `[${'1,'.repeat(70_000)}1]`, { elements: 65_536 }, 'too_many_elements'],
    ['repeated keys', `{${'"a":1,'.repeat(300)}"a":1}`, { fields: 256 }, 'too_many_fields'],
    ['a number of a million digits', '1'.repeat(1_000_000), {}, 'number_too_long'],
    ['brackets in a string', JSON.stringify('['.repeat(5_000)), { depth: 0, elements: 1 }, null],
  ])('returns a fault for %s only if a limit is exceeded', (_what, text, limits, fault) => {
    expect(scan(text, limits).fault).toBe(fault);
  });

  test('stops at the limit, regardless of the bytes that follow', () => {
    expect(scan(`[${'[],'.repeat(1_000_000)}`, { elements: 1_000 })).toEqual({
      fault: 'too_many_elements',
      elements: 1_001,
      topFields: 0,
    });
  });
});
