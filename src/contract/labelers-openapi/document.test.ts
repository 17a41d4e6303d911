import { describe, expect, it } from 'vitest';
import { accountOpenApi, labelersOpenApi, openApi } from '../../../harness/artifacts/openapi.ts';
import { labelerExamples as examples } from './document.ts';

const described: readonly (readonly [path: string, status: number, name: string, value: object])[] = [
  ['/labelers.json', 200, 'list', examples.list.list],
  ['/labelers/{did}.json', 200, 'failing', examples.one.failing],
  ...Object.entries(examples.refused).map(([name, value]) => ['/labelers.json', 503, name, value] as const),
  ...Object.entries(examples.notFound).map(([name, value]) => ['/labelers/{did}.json', 404, name, value] as const),
];

describe('the OpenAPI document of the labeler documents', () => {
  it.each(described)('accepts the example response of %s with status %i: %s', (path, status, _name, value) => {
    expect(labelersOpenApi.faults('get', path, status, JSON.parse(JSON.stringify(value)))).toEqual([]);
  });

  it('rejects an exact count below five for undeclared values', () => {
    const { failing } = examples.one;
    const undeclared = (count: unknown) => ({ ...failing, facts: { ...failing.facts, undeclared: count } });
    expect(labelersOpenApi.faults('get', '/labelers/{did}.json', 200, undeclared('fewer_than_5'))).toEqual([]);
    expect(labelersOpenApi.faults('get', '/labelers/{did}.json', 200, undeclared(4))).not.toEqual([]);
  });

  it('describes a count that may be a word under a name, and the word as an enumeration, for generated clients', () => {
    const schemas = labelersOpenApi.document.components?.schemas as Record<string, Record<string, unknown>>;
    expect(schemas.LabelerCount?.anyOf).toEqual([
      { type: 'integer', minimum: 5, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', enum: ['fewer_than_5'], description: 'A count from 0 to 4, which is not published exactly.' },
    ]);
    expect(constantsInUnions([openApi, accountOpenApi, labelersOpenApi].map(({ document }) => document))).toEqual([]);
  });
});

/** Returns the unions within a value that contain a constant. */
function constantsInUnions(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { anyOf = [], oneOf = [] } = value as { anyOf?: readonly object[]; oneOf?: readonly object[] };
  const found = [...anyOf, ...oneOf].some((part) => 'const' in part) ? [value] : [];
  return [...found, ...Object.values(value).flatMap(constantsInUnions)];
}
