import { afterAll } from 'vitest';

/** Registers a function that releases something after a test, as `onTestFinished` does, or after all tests of a file. */
export type Later = (release: () => void | Promise<void>) => void;

/**
 * Returns a function that creates one value for each list of arguments and returns the same value in later calls with
 * equal arguments. Tests must leave the value unchanged. All values are released after the last test of the file. Call
 * `onceInFile` outside tests.
 */
export function onceInFile<Args extends readonly unknown[], T>(
  create: (later: Later, ...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const created = new Map<string, Promise<T>>();
  const releases: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    for (const release of releases.toReversed()) await release();
  });
  return (...args) => {
    const key = JSON.stringify(args);
    const known = created.get(key) ?? create((release) => releases.push(release), ...args);
    created.set(key, known);
    return known;
  };
}
