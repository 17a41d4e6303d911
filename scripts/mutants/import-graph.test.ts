import { describe, expect, it } from 'vitest';
import { distancesFrom, nearestTests } from './import-graph.ts';

const imports: Record<string, readonly string[]> = {
  'near.test.ts': ['part.ts'],
  'far.test.ts': ['face.ts'],
  'face.ts': ['part.ts', 'other.ts'],
  'other.ts': ['face.ts'],
  'own.test.ts': [],
};
const importsOf = (file: string) => imports[file] ?? [];
const tests = ['far.test.ts', 'near.test.ts', 'own.test.ts'];

describe('the import graph', () => {
  it('states the distance to each imported file, even if files import each other', () => {
    expect([...distancesFrom('far.test.ts', importsOf)]).toEqual([
      ['far.test.ts', 0],
      ['face.ts', 1],
      ['part.ts', 2],
      ['other.ts', 2],
    ]);
  });

  it('selects the tests that import a source, ordered by the length of the import path', () => {
    const testsOf = nearestTests(tests, importsOf, 5);
    expect(testsOf('part.ts')).toEqual(['near.test.ts', 'far.test.ts']);
    expect(testsOf('other.ts')).toEqual(['far.test.ts']);
  });

  it('selects a test named after the source even if the test does not import the source, and no test for other unimported sources', () => {
    const testsOf = nearestTests(tests, importsOf, 5);
    expect(testsOf('own.ts')).toEqual(['own.test.ts']);
    expect(testsOf('alone.ts')).toEqual([]);
  });

  it('prefers the test that imports fewer files if two tests have the same distance', () => {
    const reads = (file: string) => (file === 'wide.test.ts' ? ['part.ts', 'other.ts'] : ['part.ts']);
    expect(nearestTests(['wide.test.ts', 'small.test.ts'], reads, 1)('part.ts')).toEqual(['small.test.ts']);
  });

  it('selects at most the given number of tests', () => {
    expect(nearestTests(['a.test.ts', 'b.test.ts'], () => ['part.ts'], 1)('part.ts')).toEqual(['a.test.ts']);
  });
});
