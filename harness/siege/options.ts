import type { Met } from '../../sim/labelers/hostile/network.ts';
import type { HonestRows } from './honest.ts';
import type { Crash, Stop } from './instrument.ts';
import type { ReadPage } from './judge-publication.ts';
import type { Undeserved } from './judge-state.ts';

/** Options for a siege. */
export interface SiegeOptions {
  readonly seed: number;
  readonly hostile: number;
  readonly honest: number;
  /** Duration of the attack while the instrument runs, excluding restarts, in seconds. */
  readonly seconds: number;
  readonly restarts: number;
  /** Maximum time from the end of the attack to the recovery, in seconds. */
  readonly recoverySeconds: number;
  /** Names of the kinds of hostile labelers. Default: all kinds. */
  readonly kinds?: readonly string[];
  /** Labels per second of all honest labelers. */
  readonly labelRate: number;
  /** Share of hostile labelers that behave well at first. */
  readonly lateShare: number;
  /** Maximum rate of all floods together, in megabytes per second. */
  readonly floodMegabytesPerSecond: number;
  /** Maximum size of the store, in megabytes. */
  readonly diskBudgetMegabytes: number;
  /** Path of the file for samples, or null for none. */
  readonly csv: string | null;
  /** Reads the observatory's page. Returns null if the runtime cannot load the components of pages. */
  readonly readPage: ReadPage | null;
  /** Called with progress messages. */
  readonly onProgress: (what: string) => void;
}

/** Result of a siege. */
export interface SiegeReport {
  /** All detected problems. Delays are excluded, because they depend on the machine. */
  readonly problems: readonly string[];
  readonly rows: HonestRows;
  readonly undeserved: readonly Undeserved[];
  readonly crashes: readonly Crash[];
  readonly stops: readonly Stop[];
  readonly memory: 'cgroup' | 'heap flag';
  /** True if the siege had a name server. */
  readonly names: boolean;
  readonly maxRssMegabytes: number;
  /** Trend of the memory during the attack in megabytes per hour, or null with too few samples. */
  readonly rssSlope: number | null;
  readonly maxStallSeconds: number;
  /** Processor seconds per second of wall time, during the attack. */
  readonly cpuShare: number;
  readonly diskMegabytes: number;
  readonly met: Readonly<Record<string, Met>>;
  readonly floodMegabytes: number;
  /** Time until the recovery in seconds, or null if the recovery took too long. */
  readonly recoveredAfterSeconds: number | null;
  /** Responses of the facts process for the overview, by status. */
  readonly factsStatuses: Readonly<Record<string, number>>;
}

/** Maximum resident set of the instrument, in megabytes. */
export const maxRssMegabytes = 500;
