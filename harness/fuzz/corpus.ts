import { readFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { InputName } from '../../src/input/limits.ts';
import type { FuzzInput } from './documents.ts';
import { inputAt, jetstreamDictionary } from './entries.ts';

/** Description of a constructed input by its parts, so that the repository need not contain megabytes of data. */
interface Recipe {
  readonly entry: string;
  readonly name: string;
  /** Number of a generated input that is among the most expensive inputs. */
  readonly index?: number;
  /** Parts of the input, each with a number of repetitions: text, or hexadecimal bytes if `hex` is set. */
  readonly parts?: readonly (readonly [text: string, times: number])[];
  readonly hex?: boolean;
  readonly gzip?: boolean;
  /** True if the input is compressed with the dictionary in the Jetstream fixtures. */
  readonly zstd?: boolean;
}

const recipes = JSON.parse(readFileSync(new URL('corpus/hand-made.json', import.meta.url), 'utf8')) as Recipe[];

/** Returns the constructed and the recorded expensive inputs of an entry point. */
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
