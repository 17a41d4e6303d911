import { expect, it } from 'vitest';
import { contractIds } from '../contract/identifiers.ts';
import { ageBucket, entityTag } from './representation.ts';

const digest = 'ab'.repeat(32);

it('an entity tag is weak and quoted, and is the same in every process for the same contract, bytes and bucket', () => {
  // Compare with a literal value, because every process, node and version must compute the same tag.
  expect(entityTag(contractIds.labelsOverview, digest, 3)).toBe('W/"vxZO0DV6n9nA3wM70uz3MSZkZCl"');
});

it('an entity tag changes if the contract, the bytes or the bucket change', () => {
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
])('an age of %d s is in bucket %d', (age, bucket) => {
  expect(ageBucket(age)).toBe(bucket);
});
