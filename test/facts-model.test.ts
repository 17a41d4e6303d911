import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Case, caseOf } from './model/arbitraries.ts';
import { factsChecker } from './model/facts-check.ts';
import { enoughCases, modelRun } from './model/run.ts';

/** The facts API against a model that was written from the contract's text alone: artifacts, clocks and requests. */

it('answers as the contract says, whatever the artifacts, the clock and the requests', () => {
  const { check, counts } = factsChecker();
  const run = modelRun<Case>(20_000);
  fc.assert(fc.property(caseOf, check), run);
  if (run.numRuns < enoughCases) return;
  // A run that met no answer of some kind would say nothing about it.
  const kinds = [
    ...['fact', 'not modified', 'index', 'health', 'asset', 'options', 'refused method', 'error not_found'],
    ...['error source_unavailable', 'error source_held', 'error source_stale', 'error internal_error'],
  ];
  for (const kind of kinds) expect([kind, counts.get(kind) ?? 0]).toEqual([kind, expect.toSatisfy((n) => n > 20)]);
}, 600_000);
