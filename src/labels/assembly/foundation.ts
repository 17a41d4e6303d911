import type { LabelerKey } from '../../store/roster.ts';
import { wait } from '../clock/wait.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { defaultMaxDailyBytes } from '../shares/disk-budget.ts';
import { GroupedCommits } from '../shares/grouped-commits.ts';
import { Signatures } from '../signatures/signatures.ts';
import { createVerifier, type Verifier } from '../signatures/verifier.ts';
import { createFairShares, type FairShares } from './fair-shares.ts';
import type { LabelsOptions } from './options.ts';
import { createOutbound, type Outbound } from './outbound.ts';
import { type Preconditions, watchPreconditions } from './preconditions.ts';
import { timeAsker } from './time-asker.ts';

/** Parts of the instrument that exist before it observes: network clients, shares, signatures, clock and disk. */
export interface Foundation extends LabelsOptions {
  readonly outbound: Outbound;
  readonly shares: FairShares;
  readonly verifier: Verifier;
  readonly signatures: Signatures;
  readonly preconditions: Preconditions;
}

/** Expected processor time of one signature check, in milliseconds; measured with libsecp256k1. */
const checkCpuMs = 0.06;

/** Creates the foundation. `labeler` looks up a labeler in the roster, which is created later. */
export function createFoundation(
  options: LabelsOptions,
  labeler: (did: string) => KnownLabeler | undefined,
  signal: AbortSignal,
): Foundation {
  const { settings, store, policy, clocks } = options;
  const clock = clocks.wall;
  const outbound = createOutbound({ ...settings, policy, clock: () => clock() / 1000 });
  const { directory, identities } = outbound;
  const shares = createFairShares({
    ...{ store, clocks, labeler, disk: () => preconditions.disk },
    gapIntervalMs: settings.timings.heartbeatMs,
    maxDailyRows: settings.maxDailyRows,
  });
  const { shareOf, pace } = shares;
  const verifier = createVerifier({
    onChecked: (source, checks) => pace.charge(source, { cpuMs: checks * checkCpuMs }),
  });
  const preconditions = watchPreconditions(clocks, {
    folder: settings.folder,
    isRemote: settings.isStoreRemote ?? false,
    minFreeBytes: settings.minFreeBytes,
    maxDailyBytes: settings.dailyBytes ?? defaultMaxDailyBytes,
    isDerived: (settings.dailyBytes ?? null) === null,
    windowDays: settings.windowDays,
    askTime: timeAsker(
      directory,
      { ...settings, dids: settings.seeds },
      clock,
      settings.timings.clockMs,
      signal,
      (milliseconds, askedAt) => preconditions.onTrustedTime(milliseconds, askedAt),
    ),
  });
  const keys = new GroupedCommits<LabelerKey, true>({
    ...{ wait, signal, bytesOf: ({ did, key }) => did.length + key.length, shareOf: ({ did }) => shareOf(did) },
    commit: async (changes) => {
      await store.putKeys(changes);
      return changes.map(() => true as const);
    },
  });
  const signatures = new Signatures({ identities, verifier, store, clock, shareOf, putKey: (key) => keys.put(key) });
  return { ...options, outbound, shares, verifier, signatures, preconditions };
}
