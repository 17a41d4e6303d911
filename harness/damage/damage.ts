import { readFileSync, truncateSync, writeFileSync } from 'node:fs';

/** Kinds of damage caused by a power loss or by later corruption. */
export const damageKinds = ['truncation', 'torn sectors', 'lost sectors', 'bit flips'] as const;
export type DamageKind = (typeof damageKinds)[number];

/** Returns the next number from 0 to 1 of a seeded pseudo-random sequence. */
export type Random = () => number;

/** Returns a random non-negative integer below a bound. */
function below(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

/**
 * Damages a file and returns a description of the damage. An empty file receives one byte. `earlier` is the file's
 * content before the last changes. Torn writes leave sectors of that content, or zeros beyond its end.
 */
export function damage(path: string, kind: DamageKind, random: Random, earlier: Buffer): string {
  const bytes = readFileSync(path);
  if (bytes.length === 0) {
    writeFileSync(path, Buffer.from([below(random, 256)]));
    return 'one byte written to an empty file';
  }
  switch (kind) {
    case 'truncation': {
      const length = below(random, bytes.length);
      truncateSync(path, length);
      return `${length} of ${bytes.length} bytes`;
    }
    case 'torn sectors':
    case 'lost sectors': {
      const sector = random() < 0.5 ? 512 : 4096;
      const sectors = Math.ceil(bytes.length / sector);
      const first = below(random, sectors);
      // The new data overwrites either a prefix of the old data, or some sectors in its middle.
      const last = random() < 0.5 ? sectors : Math.min(sectors, first + 1 + below(random, 4));
      for (let at = first * sector; at < Math.min(last * sector, bytes.length); at++) {
        bytes[at] = kind === 'torn sectors' ? (earlier[at] ?? 0) : 0;
      }
      writeFileSync(path, bytes);
      return `sectors ${first} to ${last} of ${sectors}, ${sector} bytes each`;
    }
    case 'bit flips': {
      const flips = Array.from({ length: 1 + below(random, 3) }, () => below(random, bytes.length * 8));
      for (const bit of flips) bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      return `bits ${flips.join(' ')} of ${bytes.length} bytes`;
    }
  }
}
