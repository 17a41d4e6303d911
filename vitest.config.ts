import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/tiers/longest-first.ts';
import { tierProjects } from './scripts/tiers/projects.ts';

export default defineConfig({
  test: {
    projects: tierProjects({ builds: true, isolates: false }),
    sequence: { sequencer: LongestFirst },
  },
});
