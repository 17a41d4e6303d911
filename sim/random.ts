/**
 * Deterministic random numbers. A hash depends only on its arguments, and a sequence only on its seed, so that any part
 * of the traffic can be generated separately.
 */

/** Returns a 32-bit hash of up to four integers, which may be larger than 32 bits. */
export function hash(a: number, b = 0, c = 0, d = 0): number {
  let state = 0x9e3779b9;
  for (const part of [a, b, c, d]) {
    state = Math.imul(state ^ (part >>> 0), 0x85ebca6b);
    state ^= state >>> 13;
    state = Math.imul(state ^ (Math.floor(part / 0x1_0000_0000) >>> 0), 0xc2b2ae35);
    state ^= state >>> 16;
  }
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (state ^ (state >>> 12)) >>> 0;
}

/** Returns a hash of up to four integers as a fraction in [0, 1). */
export function fraction(a: number, b = 0, c = 0, d = 0): number {
  return hash(a, b, c, d) / 0x1_0000_0000;
}

/** Returns a generator of 32-bit numbers (mulberry32). */
export function sequence(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Returns a generator of fractions in [0, 1). */
export function fractions(seed: number): () => number {
  const next = sequence(seed);
  return () => next() / 0x1_0000_0000;
}

/** Random choices based on a sequence of numbers. */
export interface Dice {
  /** Returns an integer from 0 up to but not including `bound`. */
  below(bound: number): number;
  /** Returns a random element of a list. Throws a RangeError if the list is empty. */
  pick<T>(list: readonly T[]): T;
  /** Returns true with the given probability. */
  chance(probability: number): boolean;
  /** Returns `length` random characters of an alphabet. */
  text(alphabet: string, length: number): string;
  /** Returns a shuffled copy of the list. */
  shuffled<T>(list: readonly T[]): T[];
}

/** Creates a random generator from a seed. */
export function dice(seed: number): Dice {
  const next = sequence(seed);
  const below = (bound: number): number => next() % bound;
  return {
    below,
    pick: (list) => {
      const found = list[below(list.length)];
      if (found === undefined) throw new RangeError('cannot pick from an empty list');
      return found;
    },
    chance: (probability) => next() / 0x1_0000_0000 < probability,
    text: (alphabet, length) => {
      let made = '';
      for (let at = 0; at < length; at++) made += alphabet.charAt(below(alphabet.length));
      return made;
    },
    shuffled: (list) =>
      list
        .map((member) => ({ member, rank: next() }))
        .sort((one, other) => one.rank - other.rank)
        .map(({ member }) => member),
  };
}
