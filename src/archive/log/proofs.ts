import { nodeHash } from './merkle.ts';

/** A claim that a tree contains a leaf, with its proof. */
export interface InclusionClaim {
  /** RFC 6962 leaf hash of the entry. */
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** A claim that one tree is a prefix of another, with its proof. */
export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** Returns true if the proof shows that the tree contains the leaf (RFC 9162, section 2.1.3.2). */
export function verifyInclusion({ leaf, index, size, root, proof }: InclusionClaim): boolean {
  if (index < 0 || index >= size) return false;
  let place = index;
  let last = size - 1;
  let hash: Buffer = Buffer.from(leaf);
  for (const sibling of proof) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hash = nodeHash(sibling, hash);
      // A node without a right sibling is promoted to the next level unchanged.
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && hash.equals(root);
}

/** Returns true if the proof shows that the new tree extends the old one (RFC 9162, section 2.1.4.2). */
export function verifyConsistency({ oldSize, oldRoot, size, root, proof }: ConsistencyClaim): boolean {
  if (oldSize < 0 || oldSize > size) return false;
  if (oldSize === size) return proof.length === 0 && Buffer.from(oldRoot).equals(root);
  if (oldSize === 0) return proof.length === 0;
  const isPowerOfTwo = Number.isInteger(Math.log2(oldSize));
  const [first, ...rest] = isPowerOfTwo ? [oldRoot, ...proof] : proof;
  if (!first) return false;
  let place = oldSize - 1;
  let last = size - 1;
  while (place % 2 === 1) [place, last] = [half(place), half(last)];
  let oldHash: Buffer = Buffer.from(first);
  let hash: Buffer = Buffer.from(first);
  for (const sibling of rest) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      oldHash = nodeHash(sibling, oldHash);
      hash = nodeHash(sibling, hash);
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && oldHash.equals(oldRoot) && hash.equals(root);
}

function half(value: number): number {
  return Math.floor(value / 2);
}
