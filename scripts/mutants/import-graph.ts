import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Returns the project files that a file imports as values (not only as types), as paths relative to the root. */
export type ImportsOf = (file: string) => readonly string[];

/** Returns a function that reads the imports of a file. Each file is read only once. */
export function importReader(root: string): ImportsOf {
  const known = new Map<string, readonly string[]>();
  return (file) => {
    const kept = known.get(file);
    if (kept !== undefined) return kept;
    const text = readFileSync(join(root, file), 'utf8');
    const imports = [...text.matchAll(/^(?:import|export|\}) (?!type )[^;]*?from '(\.[^']+)'|import\('(\.[^']+)'\)/gm)]
      .map(([, from, dynamic]) => relative(root, resolve(join(root, dirname(file)), from ?? dynamic ?? '')))
      .filter((path) => /\.tsx?$/.test(path) && existsSync(join(root, path)));
    const found = [...new Set(imports)];
    known.set(file, found);
    return found;
  };
}

/**
 * Returns `start` and each file that it imports, directly or indirectly, with the number of imports on the shortest
 * path from `start`.
 */
export function distancesFrom(start: string, importsOf: ImportsOf): Map<string, number> {
  const distances = new Map([[start, 0]]);
  // The iteration also visits the keys that the loop adds, and thereby visits files in the order of their distances.
  for (const [file, distance] of distances) {
    for (const next of importsOf(file)) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
}

/**
 * Returns a function that returns up to `most` tests that import a source. The unit test of the same name comes
 * first, then the tests with the shortest import path to the source. Tests at the same distance are ordered by the
 * number of files that they import.
 */
export function nearestTests(
  tests: readonly string[],
  importsOf: ImportsOf,
  most: number,
): (source: string) => readonly string[] {
  const distances = tests.map((test) => [test, distancesFrom(test, importsOf)] as const);
  return (source) => {
    const isOwn = (test: string): boolean => test.replace(/\.test\.(tsx?)$/, '.$1') === source;
    return distances
      .flatMap(([test, reached]) => {
        const distance = isOwn(test) ? 0 : reached.get(source);
        return distance === undefined ? [] : [{ test, distance, size: reached.size }];
      })
      .sort((a, b) => a.distance - b.distance || a.size - b.size)
      .slice(0, most)
      .map(({ test }) => test);
  };
}
