import { expect, it } from 'vitest';
import { contractIds } from '../contract/identifiers.ts';
import { ageBucket, entityTag } from './entity-tag.ts';

const digest = 'ab'.repeat(32);

it('is weak, quoted, and the same for the same contract, bytes and bucket in every process', () => {
  // Written out: another process, node or version must come to the same text.
  expect(entityTag(contractIds.labelsOverview, digest, 3)).toMatch(/^W\/"[A-Za-z0-9_-]{27}"$/);
  expect(entityTag(contractIds.labelsOverview, digest, 3)).toBe(entityTag(contractIds.labelsOverview, digest, 3));
});

it('changes with the contract, the bytes and the bucket', () => {
  const tags = [
    entityTag(contractIds.labelsOverview, digest, 3),
    entityTag(contractIds.weatherMetrics, digest, 3),
    entityTag(contractIds.labelsOverview, 'cd'.repeat(32), 3),
    entityTag(contractIds.labelsOverview, digest, 4),
    entityTag(contractIds.labelsOverview, digest, -3),
  ];
  expect(new Set(tags).size).toBe(tags.length);
});

it.each([
  [0, 0],
  [59.999, 0],
  [60, 1],
  [-0.001, -1],
  [-60, -1],
  [-60.001, -2],
])('an age of %d s lies in bucket %d', (age, bucket) => {
  expect(ageBucket(age)).toBe(bucket);
});
