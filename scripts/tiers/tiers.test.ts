import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { longFiles, outsideUnitTier, pagesTier, proofsThatRunAlone, proofTier } from './tiers.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the lists of test tiers', () => {
  it('name only files that exist', () => {
    const named = [...outsideUnitTier, ...pagesTier, ...proofTier, ...longFiles];
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('list each file only once', () => {
    const named = [...outsideUnitTier, ...pagesTier, ...proofTier];
    expect(named.filter((file, index) => named.indexOf(file) !== index)).toEqual([]);
  });

  it('contain every proof that runs alone', () => {
    expect(proofsThatRunAlone.filter((file) => !proofTier.includes(file))).toEqual([]);
  });

  it('leave at least one test of every invariant outside the proof tier', () => {
    const page = readFileSync(join(root, 'docs', 'invariants.md'), 'utf8');
    const promises = page.split('\n').filter((line) => line.startsWith('| **'));
    expect(promises.length).toBeGreaterThanOrEqual(7);
    const unguarded = promises.filter((promise) => {
      const tests = [...promise.matchAll(/`([^`]+\.test\.tsx?)`/g)].flatMap(([, file]) => file ?? []);
      return !tests.some((file) => !proofTier.includes(file));
    });
    expect(unguarded).toEqual([]);
  });
});
