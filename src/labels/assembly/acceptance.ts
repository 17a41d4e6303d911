import type { Micros } from '../../contract/timestamp.ts';
import { wait } from '../clock/clock.ts';
import { PageAcceptance } from '../ingest/acceptance.ts';
import type { AcceptedPage } from '../ingest/accepted-page.ts';
import { createInputMemory } from '../ingest/input-memory.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { RefusedMemory } from '../ingest/refused-memory.ts';
import { createRepeatFinder } from '../repeats/repeat-finder.ts';
import { type PageRepeats, RepeatMemory } from '../repeats/repeats.ts';
import { costOf } from '../shares/daily-cap.ts';
import { FilledIn, notFilledIn } from '../state/filled-in.ts';
import { isPrivileged } from '../state/reading-state.ts';
import type { Foundation } from './foundation.ts';

/** Interval between attempts to write to a store that cannot accept rows, in milliseconds. */
const retryMs = 1_000;
/** Number of written bytes after which the free space is checked again. Each heartbeat also checks the free space. */
const checkDiskBytes = 64_000_000;

/**
 * Creates the `PageAcceptance` that commits the pages of all sources through one writer. Calls `fatal` when the store
 * cannot be trusted.
 */
export function createAcceptance(base: Foundation, fatal: (error: unknown) => void): PageAcceptance {
  const { store, clocks, log, telemetry, preconditions, shares } = base;
  return new PageAcceptance({
    ...{ store, wait, retryMs, log, telemetry, fatal },
    shareOf: shares.shareOf,
    flushGaps: async (sources) => {
      await shares.gaps.flush(sources);
      // Wait until a takeover in progress has ended. The pages are then checked again before they are stored.
      await base.role?.kept.released();
    },
    charge: (source, cpuMs) => shares.pace.charge(source, { cpuMs }),
    clock: clocks.wall,
    checkPreconditions: () => preconditions.look(),
    clockGeneration: () => generationOf(base),
  });
}

/**
 * Returns a number that changes when pages must be judged again: the clock was set or confirmed, or this instrument
 * took over the store.
 */
function generationOf({ preconditions, role }: Foundation): number {
  return preconditions.clockGeneration + (role?.generation ?? 0);
}

/**
 * Creates the ports of all readers. Readers call `suspectDocument` for a source whose DID document may have changed.
 */
export function createReaderPorts(
  base: Foundation,
  acceptance: PageAcceptance,
  { epoch, suspectDocument }: { readonly epoch: Micros; readonly suspectDocument: (did: string) => void },
): ReaderPorts {
  const { settings, store, clocks, random, log, telemetry, outbound, shares, signatures, preconditions, role } = base;
  const { shareOf, usage, pace, cap, gaps } = shares;
  const { http, openStream, streams } = outbound;
  const charge = (source: string, cpuMs: number): void => pace.charge(source, { cpuMs });
  const isLastForgotten = (source: string): boolean => isPrivileged(shareOf(source).priority);
  let sinceDiskCheck = 0;
  const accept = async (page: AcceptedPage): Promise<number> => {
    const stored = await acceptance.accept(page);
    sinceDiskCheck += costOf(page.observations).bytes;
    if (sinceDiskCheck >= checkDiskBytes) {
      sinceDiskCheck = 0;
      await preconditions.checkDisk();
    }
    return stored;
  };
  return {
    query: { http, openStream, streams, memory: createInputMemory() },
    acceptance: {
      ...{ accept, cap, usage },
      verify: (did, rows, given) => signatures.verify(did, rows, given),
      refused: new RefusedMemory(undefined, isLastForgotten),
      repeats: repeatsOf(
        role,
        new RepeatMemory(createRepeatFinder({ store, clock: clocks.wall, charge }), clocks.wall, isLastForgotten),
      ),
      filledIn: filledInOf(role),
      clockGeneration: () => generationOf(base),
    },
    gaps: { change: (change) => Promise.resolve(gaps.change(change)) },
    time: { epoch, random, wait, clock: clocks.wall, timings: settings.timings },
    pace,
    report: { log, telemetry, suspectDocument },
  };
}

/**
 * Returns the ports that count repeats. A standby does not count repeats in pages, because the store already contains
 * the rows of these pages. The standby counts repeats at the takeover, when it stores its own rows.
 */
function repeatsOf(role: Foundation['role'], memory: RepeatMemory): ReaderPorts['acceptance']['repeats'] {
  const none: PageRepeats = { changes: [], committed: () => undefined };
  return {
    load: (...stored) => memory.load(...stored),
    find: async (source, rows) => (role?.role === 'standby' ? none : memory.find(source, rows)),
  };
}

/**
 * Returns the ports that record late reading. A standby does not record it in pages, because the writer has stored most
 * of their rows in time. The takeover records it for the rows that only the standby has.
 */
function filledInOf(role: Foundation['role']): ReaderPorts['acceptance']['filledIn'] {
  const filledIn = new FilledIn();
  return {
    load: (...stored) => filledIn.load(...stored),
    live: (source, at) => {
      if (role?.role !== 'standby') filledIn.live(source, at);
    },
    covering: (...page) => (role?.role === 'standby' ? notFilledIn : filledIn.covering(...page)),
  };
}
