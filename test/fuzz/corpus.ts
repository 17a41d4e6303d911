import { readFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { InputName } from '../../src/input/limits.ts';
import { type FuzzInput, inputAt, jetstreamDictionary } from './entries.ts';

/** A made input, as the parts that it is put together from: megabytes are not kept in the repository. */
interface Recipe {
  readonly entry: string;
  readonly name: string;
  /** The number of a generated input that was found to be one of the worst. */
  readonly index?: number;
  /** Texts or bytes in hexadecimal, each repeated as often as it says. */
  readonly parts?: readonly (readonly [text: string, times: number])[];
  readonly hex?: boolean;
  readonly gzip?: boolean;
  /** Compressed with the dictionary of the Jetstream fixtures. */
  readonly zstd?: boolean;
}

const recipes = JSON.parse(readFileSync(new URL('corpus/hand-made.json', import.meta.url), 'utf8')) as Recipe[];

/** The inputs that were written by hand, or found and kept, for an entry point. */
export function handMade(entry: InputName): { readonly label: string; readonly input: FuzzInput }[] {
  return recipes
    .filter((recipe) => recipe.entry === entry)
    .map((recipe) => ({
      label: recipe.name,
      input: recipe.index === undefined ? made(recipe) : inputAt(entry, recipe.index),
    }));
}

function made({ parts = [], hex = false, gzip = false, zstd = false }: Recipe): FuzzInput {
  const bytes = Buffer.concat(
    parts.map(([text, times]) => {
      const piece = Buffer.from(text, hex ? 'hex' : 'utf8');
      return Buffer.alloc(piece.length * times, piece);
    }),
  );
  if (zstd) return { bytes: zstdCompressSync(bytes, { dictionary: jetstreamDictionary }), coding: 'zstd' };
  return gzip ? { bytes: gzipSync(bytes), coding: 'gzip' } : { bytes, coding: '' };
}
