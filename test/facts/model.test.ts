import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Case, caseOf } from '../../harness/model/arbitraries.ts';
import { factsChecker } from '../../harness/model/facts-check.ts';
import { enoughCases, modelRun } from '../../harness/model/run.ts';

/**
 * Compares the facts API with a model that was written only from the text of the contract, for generated artifacts,
 * clocks and requests.
 */

it('the facts API responds as the contract specifies, for any artifacts, clock and requests', () => {
  const { check, counts } = factsChecker();
  const run = modelRun<Case>(20_000);
  fc.assert(fc.property(caseOf, check), run);
  if (run.numRuns < enoughCases) return;
  // Every kind of response must occur, because otherwise this run would not test that kind.
  const kinds = [
    ...['fact', 'not modified', 'index', 'health', 'asset', 'options', 'refused method', 'error not_found'],
    ...['error source_unavailable', 'error source_held', 'error source_stale', 'error internal_error'],
  ];
  for (const kind of kinds) expect([kind, counts.get(kind) ?? 0]).toEqual([kind, expect.toSatisfy((n) => n > 20)]);
});
