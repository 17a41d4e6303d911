import type { Micros } from '../../contract/timestamp.ts';
import { wait } from '../clock/wait.ts';
import { type AcceptedPage, PageAcceptance } from '../ingest/acceptance.ts';
import { createInputMemory } from '../ingest/input-memory.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { RefusedMemory } from '../ingest/refused-memory.ts';
import { createRepeatFinder } from '../repeats/repeat-finder.ts';
import { RepeatMemory } from '../repeats/repeat-memory.ts';
import { costOf } from '../shares/daily-cap.ts';
import { isPrivileged } from '../state/standing.ts';
import type { Foundation } from './foundation.ts';

/** Between tries to write what the store cannot take just now. */
const retryMs = 1_000;
/** Bytes after which free space is looked at again, besides with each heartbeat. */
const checkDiskBytes = 64_000_000;

/** Makes the way of all pages to the one writer; `fatal` is told when the store cannot be trusted. */
export function createAcceptance(base: Foundation, fatal: (error: unknown) => void): PageAcceptance {
  const { store, clocks, log, telemetry, obstacles, shares } = base;
  return new PageAcceptance({
    ...{ store, wait, retryMs, log, telemetry, fatal },
    shareOf: shares.shareOf,
    flushGaps: (sources) => shares.gaps.flush(sources),
    charge: (source, cpuMs) => shares.pace.charge(source, { cpuMs }),
    clock: clocks.wall,
    obstacle: () => obstacles.look(),
    clockEra: () => obstacles.clockEra,
  });
}

/** Makes the ports of all readers; `doubt` is told of a source that its document describes no more. */
export function createReaderPorts(
  base: Foundation,
  acceptance: PageAcceptance,
  { epoch, doubt }: { readonly epoch: Micros; readonly doubt: (did: string) => void },
): ReaderPorts {
  const { settings, store, clocks, random, log, telemetry, outbound, shares, signatures, obstacles } = base;
  const { shareOf, usage, pace, cap, gaps } = shares;
  const { http, openStream, streams } = outbound;
  let sinceDiskCheck = 0;
  const accept = async (page: AcceptedPage): Promise<number> => {
    const stored = await acceptance.accept(page);
    sinceDiskCheck += costOf(page.observations).bytes;
    if (sinceDiskCheck >= checkDiskBytes) {
      sinceDiskCheck = 0;
      await obstacles.checkDisk();
    }
    return stored;
  };
  return {
    query: {
      ...{ http, openStream, streams, memory: createInputMemory() },
      heardTime: (milliseconds) => obstacles.heardTime(milliseconds),
    },
    acceptance: {
      ...{ accept, cap, usage },
      verify: (did, rows, given) => signatures.verify(did, rows, given),
      refused: new RefusedMemory(undefined, (source) => isPrivileged(shareOf(source).standing)),
      repeats: new RepeatMemory(createRepeatFinder({ store, clock: clocks.wall }), clocks.wall),
      clockEra: () => obstacles.clockEra,
    },
    gaps: { change: (change) => Promise.resolve(gaps.change(change)) },
    time: { epoch, random, wait, clock: clocks.wall, rhythm: settings.rhythm },
    pace,
    report: { log, telemetry, doubt },
  };
}
