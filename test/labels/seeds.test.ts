import { describe, expect, test } from 'vitest';
import { proveTruth } from '../../harness/truth/run.ts';

describe('the stored rows, refusals and gaps', () => {
  // The proof tier runs three of the ten seeds of `npm run test:truth`.
  test.each([1, 2, 3])(
    "match the network's record despite all injected faults, by labeler, action, account, reason and state (seed %i)",
    async (seed) => {
      const { problems, accepted } = await proveTruth({ seed });
      expect(problems).toEqual([]);
      expect(accepted).toBeGreaterThan(1_000);
    },
  );
});
