import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hour } from '../time.ts';
import { IdentitySet } from './identity-set.ts';

const horizon = 48 * hour;

function identity(n: number): Buffer {
  return hash('sha256', String(n), 'buffer').subarray(0, 16);
}

describe('the set of identities', () => {
  it('contains exactly the added identities, even after many resizes', () => {
    const known = new IdentitySet(horizon);
    for (let n = 0; n < 50_000; n++) known.add(identity(n), n * 1_000);
    expect(known.size).toBe(50_000);
    for (let n = 0; n < 50_000; n += 7) expect(known.has(identity(n))).toBe(true);
    for (let n = 50_000; n < 60_000; n++) expect(known.has(identity(n))).toBe(false);
  });

  it('keeps identities until the horizon, and drops them at most six hours later if the horizon is a multiple of six hours', () => {
    const known = new IdentitySet(horizon);
    known.add(identity(1), 0);
    known.add(identity(2), 5 * hour);
    known.add(identity(3), horizon + 5 * hour);
    expect([known.has(identity(1)), known.has(identity(2))]).toEqual([true, true]);
    known.add(identity(4), horizon + 6 * hour);
    expect([known.has(identity(1)), known.has(identity(2)), known.has(identity(3))]).toEqual([false, false, true]);
  });

  it('deletes exactly the requested identities, regardless of neighbouring identities', () => {
    // The identities hash to only a few slots, so that many of them are displaced from their own slot.
    const crowded = (n: number): Buffer => {
      const bytes = identity(n);
      bytes.writeInt32LE(n % 8, 4);
      return bytes;
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { maxLength: 200 }), (steps) => {
        const known = new IdentitySet(horizon);
        const expected = new Set<number>();
        for (const [add, n] of steps) {
          if (add) known.add(crowded(n), 0);
          else known.delete(crowded(n));
          if (add) expected.add(n);
          else expected.delete(n);
        }
        expect(known.size).toBe(expected.size);
        for (let n = 0; n <= 60; n++) expect(known.has(crowded(n))).toBe(expected.has(n));
      }),
    );
  });

  it('compares all bytes of an identity', () => {
    const known = new IdentitySet(horizon);
    const one = Buffer.alloc(16, 7);
    known.add(one, 0);
    for (let i = 0; i < 16; i++) {
      const other = Buffer.from(one);
      other[i] = 8;
      expect(known.has(other)).toBe(false);
    }
    const empty = Buffer.alloc(16);
    expect(known.has(empty)).toBe(false);
    known.add(empty, 0);
    expect(known.has(empty)).toBe(true);
  });
});
