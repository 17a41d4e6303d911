import type { Met } from '../../sim/labelers/hostile/network.ts';
import type { HonestRows } from './honest.ts';
import type { Crash, Stop } from './instrument.ts';
import type { Undeserved } from './judge-state.ts';

/** Function that describes each part of a page that its documents do not support. */
export type ReadPage = (html: string, documents: Readonly<Record<string, unknown>>) => readonly string[];

/** Options for a siege. */
export interface SiegeOptions {
  readonly seed: number;
  readonly hostile: number;
  readonly honest: number;
  /** Duration of the attack in seconds, excluding restarts of the instrument. */
  readonly seconds: number;
  /** Number of restarts of the instrument during the attack. */
  readonly restarts: number;
  /** Maximum time from the end of the attack to the recovery, in seconds. */
  readonly recoverySeconds: number;
  /** Names of the kinds of hostile labelers; defaults to all kinds. */
  readonly kinds?: readonly string[];
  /** Total labels per second of all honest labelers. */
  readonly labelRate: number;
  /** Share of hostile labelers that are honest at first. */
  readonly lateShare: number;
  /** Maximum total rate of all floods, in megabytes per second. */
  readonly floodMegabytesPerSecond: number;
  /** Maximum size of the store, in megabytes. */
  readonly diskBudgetMegabytes: number;
  /** Artificial delay of each file sync of the instrument, in milliseconds; 0 for no delay. */
  readonly syncMs: number;
  /** Path of the CSV file for samples, or null to write none. */
  readonly csv: string | null;
  /** Function that checks the observatory's page, or null if this runtime cannot load the page components. */
  readonly readPage: ReadPage | null;
  /** Called with progress messages. */
  readonly onProgress: (what: string) => void;
}

/** Result of a siege. */
export interface SiegeReport {
  /** All detected problems. Delays are excluded because they depend on the machine. */
  readonly problems: readonly string[];
  readonly rows: HonestRows;
  readonly undeserved: readonly Undeserved[];
  readonly crashes: readonly Crash[];
  readonly stops: readonly Stop[];
  readonly memory: 'cgroup' | 'heap flag';
  /** True if the siege used a name server. */
  readonly names: boolean;
  readonly maxRssMegabytes: number;
  /** Memory trend during the attack in megabytes per hour, or null if there are too few samples. */
  readonly rssSlope: number | null;
  readonly maxStallSeconds: number;
  /** Processor seconds per second of wall time during the attack. */
  readonly cpuShare: number;
  readonly diskMegabytes: number;
  readonly met: Readonly<Record<string, Met>>;
  readonly floodMegabytes: number;
  /** Time until the recovery in seconds, or null if the instrument did not recover in time. */
  readonly recoveredAfterSeconds: number | null;
  /** Number of responses of the facts process for the overview, by status. */
  readonly factsStatuses: Readonly<Record<string, number>>;
}

/** Maximum permitted resident set size of the instrument, in megabytes. */
export const maxRssMegabytes = 500;
