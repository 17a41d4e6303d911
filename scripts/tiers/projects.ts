import { availableParallelism } from 'node:os';
import type { TestProjectConfiguration } from 'vitest/config';
import { outsideUnitTier, pagesTier, proofTier } from './tiers.ts';

const besideSubjects = ['src/**/*.test.{ts,tsx}', 'sim/**/*.test.ts', 'scripts/**/*.test.ts'];

const cores = Math.max(2, availableParallelism());

/**
 * Returns the settings of a tier that runs the real programs. If `builds` is true, the program is built before the
 * first test.
 */
function withPrograms(name: string, builds: boolean) {
  return {
    name,
    pool: 'forks' as const,
    // Use more workers than cores, because these tests spend most of their time waiting for a program or a timer.
    maxWorkers: 3 * cores,
    sequence: { groupOrder: 1 },
    globalSetup: builds ? ['harness/process/build.ts'] : [],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Timeout of polls. The default of one second is too short to wait for a log line on a busy machine.
    expect: { poll: { timeout: 60_000 } },
  };
}

/**
 * Returns the test tiers. Set `builds` to false and `isolates` to true for runs with deliberate bugs: the program is
 * not rebuilt for each bug, and no module of an earlier run may remain loaded.
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
        // By default, test files share the modules of their worker, because these tests start no process and change no
        // global state.
        isolate: isolates,
        testTimeout: 60_000,
      },
    },
    {
      test: {
        ...withPrograms('system', builds),
        // Test files share the modules of their worker, which saves a tenth of the tier's processor time. Spies are
        // restored before each test, and a test that sets anything else of its process restores it.
        isolate: isolates,
        restoreMocks: true,
        include: ['test/**/*.test.ts', ...outsideUnitTier],
        exclude: [...pagesTier, ...proofTier],
      },
    },
    { test: { ...withPrograms('pages', builds), include: [...pagesTier] } },
    {
      test: {
        ...withPrograms('proof', builds),
        // Proofs use more processor time than tests, and some of them require responses in time.
        maxWorkers: 2 * cores,
        sequence: { groupOrder: 2 },
        include: [...proofTier],
      },
    },
  ];
}
