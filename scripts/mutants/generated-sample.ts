import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longFiles, outsideUnitTier, pagesTier, proofTier } from '../tiers/tiers.ts';
import { type GeneratedMutant, mutantsOf, sampleOf } from './generated.ts';
import { distancesFrom, type ImportsOf, importReader, nearestTests } from './import-graph.ts';

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

/**
 * Maximum number of unit test files that run for one mutant. The nearest files run first, because they detect most
 * mutants.
 */
const mostUnitTests = { first: 2, later: 12 };
/** Maximum number of test files of the system tier that run for one mutant. */
const mostSystemTests = 5;
/**
 * Modules that start the built program or a browser. A test that imports such a module is too slow to run for each
 * mutant.
 */
const startsPrograms: readonly string[] = ['harness/process/program.ts', 'scripts/tiers/build.ts'];

/**
 * A generated mutant with its tests: first the unit tests, then the tests of its room in the system tier, without
 * tests that start a program.
 */
interface DrawnMutant {
  readonly mutant: GeneratedMutant;
  /** Test files by stage. A stage runs only if the previous stage passes. */
  readonly stages: readonly (readonly string[])[];
}

/** Returns a sample of all mutants of the rooms, each with the tests that are nearest to its file in the import graph. */
export function drawnMutants(root: string, count: number, seed: number): DrawnMutant[] {
  const files = rooms.flatMap((room) => filesIn(root, join('src', room)));
  const importsOf = importReader(root);
  const unit = files.filter((file) => isTest(file) && !outsideUnitTier.includes(file));
  const unitTestsOf = nearestTests(unit, importsOf, mostUnitTests.first + mostUnitTests.later);
  const systemTestsOf = new Map(
    rooms.map((room) => {
      const tests = filesIn(root, join('test', room)).filter((file) => isTest(file) && isQuick(file, importsOf));
      return [room, nearestTests([...tests, ...outsideUnitTier], importsOf, mostSystemTests)];
    }),
  );
  const conformance = filesIn(root, 'test/store/conformance').filter((file) => isQuick(file, importsOf));
  const stagesOf = (file: string): (readonly string[])[] => {
    const room = file.split('/')[1] ?? '';
    const nearest = systemTestsOf.get(room)?.(file) ?? [];
    const unitTests = unitTestsOf(file);
    const [first, later] = [unitTests.slice(0, mostUnitTests.first), unitTests.slice(mostUnitTests.first)];
    return [first, later, room === 'store' ? conformance : [], nearest].filter((tests) => tests.length > 0);
  };
  const mutants = files
    .filter((file) => !isTest(file))
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
  return sampleOf(mutants, count, seed).map((mutant) => ({ mutant, stages: stagesOf(mutant.file) }));
}

function filesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
    .sort();
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file);
}

function isQuick(test: string, importsOf: ImportsOf): boolean {
  if ([...pagesTier, ...proofTier, ...longFiles].includes(test)) return false;
  const reached = distancesFrom(test, importsOf);
  return startsPrograms.every((file) => !reached.has(file));
}
