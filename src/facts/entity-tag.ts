import { createHash } from 'node:crypto';
import { bucketSeconds } from '../contract/limits.ts';

/**
 * Returns the weak validator of a fact. It depends only on the contract, the artifact's bytes and the age bucket, so it
 * is equal in all processes, nodes and content codings.
 */
export function entityTag(contract: string, artifactDigest: string, bucket: number): string {
  const token = createHash('sha256').update(`${contract}\n${artifactDigest}\n${bucket}`).digest('base64url');
  return `W/"${token.slice(0, 27)}"`;
}

/** Returns the age bucket of an age in seconds. Negative ages have negative buckets. */
export function ageBucket(ageSeconds: number): number {
  return Math.floor(ageSeconds / bucketSeconds);
}
