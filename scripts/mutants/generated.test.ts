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
  it('each change one place, and never change a type', () => {
    expect(mutantsOf('src/a.ts', text).map(({ line, before, after }) => [line, before, after])).toEqual([
      [4, "log('look');", ';'],
      [5, '&&', '||'],
      [5, '!limits.off', '(limits.off)'],
      [5, '>', '>='],
      [5, '+', '-'],
      [5, '1', '(1 + 1)'],
    ]);
  });

  it('report the offset of the text that they replace', () => {
    for (const { start, before } of mutantsOf('src/a.ts', text)) {
      expect(text.slice(start, start + before.length)).toBe(before);
    }
  });

  it('are sampled identically for the same seed, and differently for a different seed', () => {
    const mutants = Array.from({ length: 100 }, (_, i) => ({ id: `${i}` }));
    expect(sampleOf(mutants, 10, 1)).toEqual(sampleOf(mutants, 10, 1));
    expect(sampleOf(mutants, 10, 1)).not.toEqual(sampleOf(mutants, 10, 2));
    expect(new Set(sampleOf(mutants, 100, 1))).toEqual(new Set(mutants));
  });

  it('keep their ids and their order in a sample when other lines change', () => {
    const moved = text.replace("log('look');", 'const a = 7;\n  const b = a < 3;');
    const before = sampleOf(mutantsOf('src/a.ts', text), 100, 1);
    const after = sampleOf(mutantsOf('src/a.ts', moved), 100, 1).map(({ id }) => id);
    const kept = before.filter(({ kind }) => kind !== 'statement').map(({ id }) => id);
    expect(after.filter((id) => kept.includes(id))).toEqual(kept);
    expect(new Set(after).size).toBe(after.length);
  });

  it('have different ids even if their lines are equal', () => {
    const ids = mutantsOf('src/a.ts', 'log(1);\nlog(1);\n').map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
  });
});

it('the confidence interval of a share contains the share, and is narrower for larger samples', () => {
  const [low, high] = confidence(85, 100);
  expect([low, high].map((share) => Math.round(share * 1000))).toEqual([767, 907]);
  const [largerLow, largerHigh] = confidence(850, 1000);
  expect(largerLow).toBeGreaterThan(low);
  expect(largerHigh).toBeLessThan(high);
  expect(confidence(0, 0)).toEqual([0, 1]);
});
