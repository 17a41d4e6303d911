import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hour } from '../time.ts';
import { IdentitySet } from './identity-set.ts';

const horizon = 48 * hour;

function identity(n: number): Buffer {
  return hash('sha256', String(n), 'buffer').subarray(0, 16);
}

/** Identities with the span of their last acceptance, by the documented rule. */
class SpanModel {
  readonly #spans = new Map<number, number>();
  #newest = -1;
  #oldest = 0;

  get size(): number {
    return [...this.#spans.keys()].filter((n) => this.has(n)).length;
  }

  has(n: number): boolean {
    return (this.#spans.get(n) ?? -1) >= this.#oldest;
  }

  add(n: number, at: number): void {
    const span = Math.floor(at / (6 * hour));
    if (span > this.#newest)
      [this.#newest, this.#oldest] = [span, Math.max(0, Math.floor((at - horizon) / (6 * hour)))];
    if (span >= this.#oldest) this.#spans.set(n, Math.max(span, this.#spans.get(n) ?? 0));
  }

  delete(n: number): void {
    this.#spans.delete(n);
  }
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

  it('answers like a map from identities to spans, over any history of additions, deletions and pauses', () => {
    const step = fc.record({
      act: fc.constantFrom('add', 'add', 'add', 'delete'),
      n: fc.nat(40),
      pause: fc.constantFrom(0, 0, 0, 1, 5, 6, 7, 12, 30, 41, 48, 60, 95, 96, 97, 200).map((hours) => hours * hour),
      late: fc.constantFrom(0, 0, 0, 3, 6, 40, 60).map((hours) => hours * hour),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const [known, model] = [new IdentitySet(horizon), new SpanModel()];
        let now = 0;
        for (const { act, n, pause, late } of steps) {
          now += pause;
          const at = Math.max(0, now - late);
          if (act === 'add') known.add(identity(n), at);
          else known.delete(identity(n));
          if (act === 'add') model.add(n, at);
          else model.delete(n);
          expect(known.size).toBe(model.size);
        }
        for (let n = 0; n <= 40; n++) expect(known.has(identity(n))).toBe(model.has(n));
      }),
      { numRuns: 300 },
    );
  });

  it('deletes exactly the requested identities, regardless of neighbouring identities', () => {
    // Constant random tables place every identity in one segment, in the order of its last byte.
    const crowded = (words: Uint32Array): void => {
      for (let byte = 0; byte < 256; byte++) words[(15 * 256 + byte) * 3 + 1] = byte;
    };
    const ordered = (n: number): Buffer => Buffer.alloc(16, n);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { maxLength: 200 }), (steps) => {
        const known = new IdentitySet(horizon, crowded);
        const expected = new Set<number>();
        for (const [add, n] of steps) {
          if (add) known.add(ordered(n), 0);
          else known.delete(ordered(n));
          if (add) expected.add(n);
          else expected.delete(n);
        }
        expect(known.size).toBe(expected.size);
        for (let n = 0; n <= 60; n++) expect(known.has(ordered(n))).toBe(expected.has(n));
      }),
    );
  });

  it('removes expired identities while it adds others, and returns the room', () => {
    const known = new IdentitySet(horizon);
    const rows = 60_000;
    const largest: number[] = [];
    for (let n = 0; n < rows; n++) {
      known.add(identity(n), (n / rows) * 10 * 24 * hour);
      if (n % 1_000 === 0) largest.push(known.bytes);
    }
    const settled = largest.slice(20);
    expect(known.size).toBeLessThan((rows * 54) / 240 + 1);
    expect(Math.max(...settled) / Math.min(...settled)).toBeLessThan(1.3);
  });

  it('takes every part of a hash from the random words, so that no sender can choose two labels with the same one', () => {
    const distinguished = (fill: (i: number) => number): number => {
      const known = new IdentitySet(horizon, (words) => words.set(Array.from(words, (_, i) => fill(i))));
      for (let n = 0; n < 8; n++) known.add(identity(n), 0);
      return known.size;
    };
    const onlyWord = (word: number) => distinguished((i) => (i % 3 === word ? Math.imul(i + 1, 0x9e3779b1) : 0));
    expect([distinguished(() => 0), onlyWord(0), onlyWord(1), onlyWord(2)]).toEqual([1, 8, 8, 8]);
  });

  it('refuses a horizon that the span numbers of its entries cannot hold', () => {
    expect(() => new IdentitySet(66 * hour)).not.toThrow();
    expect(() => new IdentitySet(67 * hour)).toThrow(RangeError);
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
