import { availableParallelism } from 'node:os';
import type { TestProjectConfiguration } from 'vitest/config';
import { outsideUnitTier, pagesTier, proofTier } from './tiers.ts';

const besideSubjects = ['src/**/*.test.{ts,tsx}', 'sim/**/*.test.ts', 'scripts/**/*.test.ts'];

const cores = Math.max(2, availableParallelism());

/**
 * Arguments of the processes that run test files. The V8 of Node 24 can abort a process with `Check failed: jit_page.has_value()`
 * if several of its threads compile code, on processors with memory protection keys. The flag switches their use off.
 */
const execArgv = Number(process.versions.node.split('.')[0]) >= 24 ? ['--no-memory-protection-keys'] : [];

/**
 * Times in milliseconds after which a test, a hook or a poll is considered to hang. They only detect hangs, so they are far
 * longer than a slow machine needs. A poll ends first, so that its failure states the value that it saw.
 */
const hangs = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } };
/** The same for proofs: one that takes 90 seconds on an idle machine has taken more than five minutes on a busy one. */
const proofHangs = { ...hangs, testTimeout: 900_000, hookTimeout: 900_000 };

/** Modules that run before each test file. */
const setupFiles = ['harness/process/property-seed.ts'];

/**
 * Returns the settings of a tier that runs the real programs. If `builds` is true, the program is built before the
 * first test.
 */
function withPrograms(name: string, builds: boolean) {
  return {
    name,
    pool: 'forks' as const,
    // Four test files for two cores: on average, a test waits for a timer, a disk or another process half of its time.
    maxWorkers: 2 * cores,
    execArgv,
    setupFiles,
    sequence: { groupOrder: 1 },
    globalSetup: builds ? ['scripts/tiers/build.ts'] : [],
    ...hangs,
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
        execArgv,
        setupFiles,
        sequence: { groupOrder: 0 },
        // By default, the test files of a worker share loaded modules, because these tests start no process and change
        // no global state.
        isolate: isolates,
        ...hangs,
      },
    },
    {
      test: {
        ...withPrograms('system', builds),
        // The test files of a worker share loaded modules, which saves a tenth of the tier's processor time. Vitest
        // restores spies before each test; a test that changes any other state of its process must restore it.
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
        // Fewer at a time than the tests, because proofs measure by time.
        maxWorkers: Math.ceil(1.5 * cores),
        // Proofs may depend on chance, and a failed one runs again.
        setupFiles: [],
        sequence: { groupOrder: 2 },
        include: [...proofTier],
        ...proofHangs,
      },
    },
  ];
}
