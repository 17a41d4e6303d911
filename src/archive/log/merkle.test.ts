import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consistencyProof, inclusionProof, leafHash, treeHash, verifyConsistency, verifyInclusion } from './merkle.ts';

/** Entries of the test vectors that RFC 6962 implementations share, in hexadecimal digits. */
const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const leaves = entries.map((hex) => leafHash(Buffer.from(hex, 'hex')));

function leavesOf(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => leafHash(Buffer.from(String(index))));
}

/** Generates the size of a tree, and the index of one of its leaves. */
const placed = fc
  .integer({ min: 1, max: 300 })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.integer({ min: 0, max: size - 1 }) }));

describe('the tree hash', () => {
  it('equals the known roots of RFC 6962 implementations for every prefix', () => {
    const found = roots.map((_, size) => treeHash(leaves.slice(0, size)).toString('hex'));
    expect(found).toEqual(roots);
  });

  it('differs if two leaves are swapped', () => {
    fc.assert(
      fc.property(placed, ({ size, index }) => {
        const original = leavesOf(size);
        const other = (index + 1) % size;
        fc.pre(other !== index);
        const swapped = original.map((leaf, at) => original[at === index ? other : at === other ? index : at] ?? leaf);
        expect(treeHash(swapped)).not.toEqual(treeHash(original));
      }),
    );
  });
});

describe('an inclusion proof', () => {
  it('verifies for its own leaf, index and tree', () => {
    fc.assert(
      fc.property(placed, ({ size, index }) => {
        const tree = leavesOf(size);
        const claim = { leaf: tree[index] ?? Buffer.alloc(0), index, size, root: treeHash(tree) };
        expect(verifyInclusion({ ...claim, proof: inclusionProof(tree, index) })).toBe(true);
      }),
    );
  });

  it('is refused for a wrong leaf, index or root, and with one hash too few or too many', () => {
    fc.assert(
      fc.property(placed, ({ size, index }) => {
        const tree = leavesOf(size);
        const proof = inclusionProof(tree, index);
        const claim = { leaf: tree[index] ?? Buffer.alloc(0), index, size, root: treeHash(tree), proof };
        const wrong = [
          { ...claim, leaf: leafHash(Buffer.from('other')) },
          { ...claim, index: size },
          { ...claim, index: -1 },
          ...(size > 1
            ? [
                { ...claim, index: (index + 1) % size },
                { ...claim, proof: proof.slice(1) },
              ]
            : []),
          { ...claim, root: leafHash(Buffer.from('root')) },
          { ...claim, proof: [...proof, treeHash(tree)] },
        ];
        expect(wrong.map(verifyInclusion)).toEqual(wrong.map(() => false));
      }),
    );
  });

  it('cannot be computed for an index outside the tree', () => {
    expect(() => inclusionProof(leaves, 8)).toThrow(RangeError);
  });
});

describe('a consistency proof', () => {
  const sizes = fc
    .integer({ min: 1, max: 300 })
    .chain((size) => fc.record({ size: fc.constant(size), oldSize: fc.integer({ min: 0, max: size }) }));

  it('verifies for every prefix of a tree', () => {
    fc.assert(
      fc.property(sizes, ({ size, oldSize }) => {
        const tree = leavesOf(size);
        const oldRoot = treeHash(tree.slice(0, oldSize));
        const proof = consistencyProof(tree, oldSize);
        expect(verifyConsistency({ oldSize, oldRoot, size, root: treeHash(tree), proof })).toBe(true);
      }),
    );
  });

  it('is refused if one leaf of the old tree was changed', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), ({ size, oldSize }, place) => {
        fc.pre(oldSize > 0);
        const tree = leavesOf(size);
        const forked = tree.map((leaf, at) => (at === place % oldSize ? leafHash(Buffer.from('fork')) : leaf));
        const claim = { oldSize, oldRoot: treeHash(tree.slice(0, oldSize)), size, root: treeHash(forked) };
        expect(verifyConsistency({ ...claim, proof: consistencyProof(forked, oldSize) })).toBe(false);
        expect(verifyConsistency({ ...claim, proof: consistencyProof(tree, oldSize) })).toBe(false);
      }),
    );
  });

  it('is refused if the newer tree is smaller than the older tree', () => {
    const [oldRoot, root] = [treeHash(leaves), treeHash(leaves.slice(0, 4))];
    expect(verifyConsistency({ oldSize: 8, oldRoot, size: 4, root, proof: [] })).toBe(false);
    expect(() => consistencyProof(leaves.slice(0, 4), 8)).toThrow(RangeError);
  });
});
