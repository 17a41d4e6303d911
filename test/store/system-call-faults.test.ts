import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOperation } from '../../harness/faults/run.ts';
import { compileShim } from '../../harness/faults/shim.ts';
import { lacks } from '../../harness/process/tools.ts';

/**
 * Maximum number of runs of an operation. The runs cover all calls of a short operation, and evenly spread calls of a
 * long one, each with one failure. `npm run test:faults` makes every call fail with every error.
 */
const most: Readonly<Record<string, number>> = {
  publish: 40,
  hold: 40,
  release: 40,
  deny: 40,
  secret: 40,
  export: 40,
  'weather commit': 100,
  commit: 160,
  seal: 24,
  expire: 50,
  migrate: 20,
  purge: 24,
  'new-epoch': 40,
  restore: 40,
  repair: 16,
  read: 50,
};
/** Seed that selects the failing calls and their errors. */
const seed = Number(process.env.ALMANAC_TEST_FAULTS_SEED ?? 1);

describe.skipIf(lacks('cc'))(`a failing system call (seed ${seed})`, () => {
  let folder: string;
  let shim: Readonly<Record<string, string>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'almanac-shim-'));
    shim = compileShim(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.entries(most))(
    'leaves the old or the new state, and is reported (operation: %s)',
    async (name, limit) => {
      const outcomes = await runOperation(name, shim, ['each', String(seed), String(limit)]);
      expect(outcomes.filter(({ broken }) => broken !== null)).toEqual([]);
      expect(outcomes.some(({ reported }) => reported !== null)).toBe(true);
    },
  );
});
