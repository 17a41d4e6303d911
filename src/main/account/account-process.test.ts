import { performance } from 'node:perf_hooks';
import { expect, it, onTestFinished, vi } from 'vitest';

/** Clocks of the created resolvers. */
const clocks = vi.hoisted((): (() => number)[] => []);

vi.mock('../../network/identity/identity.ts', async (original) => {
  const identity = await original<typeof import('../../network/identity/identity.ts')>();
  const create: typeof identity.createIdentityResolver = (options) => {
    clocks.push(options.clock);
    return identity.createIdentityResolver(options);
  };
  return { ...identity, createIdentityResolver: create };
});

// An earlier test file of the same worker may have imported the module with the real resolver.
vi.resetModules();
const { handleFinder } = await import('./account-process.ts');

it('documents expire by the monotonic clock, so that a wall clock that was ahead and is set back does not keep them', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(1_234);
  onTestFinished(() => void vi.restoreAllMocks());
  const { close } = handleFinder({ plc: ['https://plc.example'], contact: null });
  onTestFinished(close);
  expect(clocks.map((clock) => clock())).toEqual([1_234]);
});
