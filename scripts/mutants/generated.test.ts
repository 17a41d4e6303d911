import { describe, expect, it } from 'vitest';
import { confidence, mutantsOf, sampleOf } from './generated.ts';

const text = `import { a } from './a.ts';
interface Limits { readonly most: 5 }
export function isOver(count: number, limits: Limits): boolean {
  log('look');
  return !limits.off && count + 1 > limits.most;
}
`;

describe('generated mutants', () => {
  it('change one place each, and never a type', () => {
    expect(mutantsOf('src/a.ts', text).map(({ line, before, after }) => [line, before, after])).toEqual([
      [4, "log('look');", ';'],
      [5, '&&', '||'],
      [5, '!limits.off', '(limits.off)'],
      [5, '>', '>='],
      [5, '+', '-'],
      [5, '1', '(1 + 1)'],
    ]);
  });

  it('have the line of their change', () => {
    for (const { start, before } of mutantsOf('src/a.ts', text)) {
      expect(text.slice(start, start + before.length)).toBe(before);
    }
  });

  it('are sampled by a seed', () => {
    const items = Array.from({ length: 100 }, (_, i) => i);
    expect(sampleOf(items, 10, 1)).toEqual(sampleOf(items, 10, 1));
    expect(sampleOf(items, 10, 1)).not.toEqual(sampleOf(items, 10, 2));
    expect(sampleOf(items, 100, 1).toSorted((a, b) => a - b)).toEqual(items);
  });
});

it('the confidence interval of a share contains the share, and is narrower for more items', () => {
  const [low, high] = confidence(85, 100);
  expect([low, high].map((share) => Math.round(share * 1000))).toEqual([767, 907]);
  expect(confidence(850, 1000)[0]).toBeGreaterThan(low);
  expect(confidence(0, 0)).toEqual([0, 1]);
});
