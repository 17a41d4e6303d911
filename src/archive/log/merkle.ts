import { createHash } from 'node:crypto';

/**
 * Merkle tree of RFC 6962, section 2.1, with SHA-256. Leaves and nodes are hashed with different prefixes, so that no
 * node can be presented as a leaf. Sizes and indices are safe integers.
 */

/** Length of a hash, in bytes. */
export const hashBytes = 32;

/** Returns the hash of an entry as a leaf. */
export function leafHash(entry: Uint8Array): Buffer {
  return createHash('sha256').update('\0').update(entry).digest();
}

/** Returns the hash of the node over two subtrees. */
function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash('sha256').update('\x01').update(left).update(right).digest();
}

/**
 * Returns the Merkle Tree Hash of the leaves from `start` to `end` (exclusive). For no leaves, it is the hash of the
 * empty string.
 */
export function treeHash(leaves: readonly Uint8Array[], start = 0, end = leaves.length): Buffer {
  if (end <= start) return createHash('sha256').digest();
  if (end - start === 1) return Buffer.from(leafAt(leaves, start));
  const middle = start + largestPowerBelow(end - start);
  return nodeHash(treeHash(leaves, start, middle), treeHash(leaves, middle, end));
}

function leafAt(leaves: readonly Uint8Array[], index: number): Uint8Array {
  const leaf = leaves[index];
  if (!leaf) throw new RangeError('the tree has no leaf at this index');
  return leaf;
}

/** Returns the largest power of two that is less than `count`. `count` must be at least 2. */
function largestPowerBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/**
 * Returns the inclusion proof of the leaf at `index` in a tree of the given leaves (RFC 6962, section 2.1.1). Throws
 * RangeError if the tree has no such leaf.
 */
export function inclusionProof(leaves: readonly Uint8Array[], index: number): Buffer[] {
  leafAt(leaves, index);
  return pathTo(leaves, index, 0, leaves.length);
}

function pathTo(leaves: readonly Uint8Array[], index: number, start: number, end: number): Buffer[] {
  if (end - start === 1) return [];
  const middle = start + largestPowerBelow(end - start);
  return index < middle
    ? [...pathTo(leaves, index, start, middle), treeHash(leaves, middle, end)]
    : [...pathTo(leaves, index, middle, end), treeHash(leaves, start, middle)];
}

/**
 * Returns the proof that the tree of the first `oldSize` leaves is a prefix of the tree of all leaves (RFC 6962,
 * section 2.1.2). The proof is empty if the sizes are equal or the old tree is empty, because every tree continues an
 * empty one. Throws RangeError if there are fewer leaves than `oldSize`.
 */
export function consistencyProof(leaves: readonly Uint8Array[], oldSize: number): Buffer[] {
  if (oldSize > leaves.length) throw new RangeError('the tree is smaller than its predecessor');
  if (oldSize === 0 || oldSize === leaves.length) return [];
  return subProof(leaves, oldSize, { start: 0, end: leaves.length, isWhole: true });
}

interface Subtree {
  readonly start: number;
  readonly end: number;
  /** True while the old tree is a complete subtree of the new one; the verifier knows the hash of such a subtree. */
  readonly isWhole: boolean;
}

function subProof(leaves: readonly Uint8Array[], oldEnd: number, { start, end, isWhole }: Subtree): Buffer[] {
  if (oldEnd === end) return isWhole ? [] : [treeHash(leaves, start, end)];
  const middle = start + largestPowerBelow(end - start);
  return oldEnd <= middle
    ? [...subProof(leaves, oldEnd, { start, end: middle, isWhole }), treeHash(leaves, middle, end)]
    : [...subProof(leaves, oldEnd, { start: middle, end, isWhole: false }), treeHash(leaves, start, middle)];
}

/** A claim that a tree contains a leaf, with its proof. */
interface InclusionClaim {
  /** RFC 6962 leaf hash of the entry. */
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** A claim that one tree is a prefix of another, with its proof. */
interface ConsistencyClaim {
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
