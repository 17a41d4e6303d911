import { availableParallelism } from 'node:os';
import type { TestProjectConfiguration } from 'vitest/config';
import { outsideUnitTier, pagesTier, proofTier } from './tiers.ts';

const besideSubjects = ['src/**/*.test.{ts,tsx}', 'sim/**/*.test.ts', 'scripts/**/*.test.ts'];

const cores = Math.max(2, availableParallelism());

/** Settings of the tiers that run the real programs. `builds`: builds the program before the first test. */
function withPrograms(name: string, builds: boolean) {
  return {
    name,
    pool: 'forks' as const,
    // These tests spend most of their time waiting for a program or a timer.
    maxWorkers: 2 * cores,
    sequence: { groupOrder: 1 },
    globalSetup: builds ? ['harness/process/build.ts'] : [],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // By default a second: less than a busy machine may take over a line of a log.
    expect: { poll: { timeout: 60_000 } },
  };
}

/**
 * The tiers of the tests. `builds` is false and `isolates` is true where deliberate bugs are tested: the program is not
 * rebuilt for each, and no module of an earlier run may stay.
 */
export function tierProjects({ builds, isolates }: { builds: boolean; isolates: boolean }): TestProjectConfiguration[] {
  return [
    {
      test: {
        name: 'unit',
        include: besideSubjects,
        exclude: [...outsideUnitTier],
        pool: 'forks',
        maxWorkers: cores,
        sequence: { groupOrder: 0 },
        // These tests start nothing and change nothing global, so files share the modules of their worker.
        isolate: isolates,
        testTimeout: 60_000,
      },
    },
    {
      test: {
        ...withPrograms('system', builds),
        include: ['test/**/*.test.ts', ...outsideUnitTier],
        exclude: [...pagesTier, ...proofTier],
      },
    },
    { test: { ...withPrograms('pages', builds), include: [...pagesTier] } },
    { test: { ...withPrograms('proof', builds), include: [...proofTier] } },
  ];
}
