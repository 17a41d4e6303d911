import { defineConfig } from 'vitest/config';
import { outsideUnitTier } from './scripts/mutants/unit-tier.ts';

/** The unit tier: tests beside their subjects that start no process and open no socket. Deliberate bugs run against it. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'sim/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: [...outsideUnitTier],
    pool: 'forks',
    testTimeout: 60_000,
  },
});
