import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outsideUnitTier } from '../tiers/tiers.ts';
import { type GeneratedMutant, mutantsOf, sampleOf, testsBySource } from './generated.ts';

/** Rooms whose sources are mutated. */
const rooms = [
  'account',
  'artifact',
  'contract',
  'export',
  'facts',
  'http',
  'input',
  'labels',
  'network',
  'store',
  'weather',
];

/** Returns a sample of all mutants of the rooms, each with the unit tests that import its file. */
export function drawnMutants(
  root: string,
  count: number,
  seed: number,
): { readonly mutant: GeneratedMutant; readonly tests: readonly string[] }[] {
  const files = rooms.flatMap((room) =>
    readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join('src', room, name))
      .sort(),
  );
  const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);
  const tests = testsBySource(
    root,
    files.filter((file) => isTest(file) && !outsideUnitTier.includes(file)),
  );
  const mutants = files
    .filter((file) => !isTest(file))
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
  return sampleOf(mutants, count, seed).map((mutant) => ({ mutant, tests: tests.get(mutant.file) ?? [] }));
}
