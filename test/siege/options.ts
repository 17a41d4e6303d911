import type { Met } from '../../sim/labelers/hostile/network.ts';
import type { HonestRows } from './honest.ts';
import type { Crash, Stop } from './instrument.ts';
import type { ReadPage } from './judge-publication.ts';
import type { Undeserved } from './judge-state.ts';

/** What a siege is made of. */
export interface SiegeOptions {
  readonly seed: number;
  readonly hostile: number;
  readonly honest: number;
  /** How long the attack lasts while the instrument runs; the restarts come on top of it. */
  readonly seconds: number;
  readonly restarts: number;
  /** Within this time after the attack everything must be as before. */
  readonly recoverySeconds: number;
  /** Names of kinds; all of them unless given. */
  readonly kinds?: readonly string[];
  /** Labels a second of all honest labelers. */
  readonly labelRate: number;
  /** The share of hostile labelers that behave at first. */
  readonly lateShare: number;
  /** Of all floods together. */
  readonly floodMegabytesPerSecond: number;
  /** The most that the store may take, in megabytes. */
  readonly diskBudgetMegabytes: number;
  /** Where samples are written; null for nowhere. */
  readonly csv: string | null;
  /** Reads the observatory's page back; null where the runtime cannot load the components of pages. */
  readonly readPage: ReadPage | null;
  /** Called with what happens. */
  readonly onProgress: (what: string) => void;
}

/** What came of a siege. */
export interface SiegeReport {
  /** Everything that is not as it should be, in words; lag apart, which depends on the machine. */
  readonly problems: readonly string[];
  readonly rows: HonestRows;
  readonly undeserved: readonly Undeserved[];
  readonly crashes: readonly Crash[];
  readonly stops: readonly Stop[];
  readonly memory: 'cgroup' | 'heap flag';
  /** Whether a name server took part. */
  readonly names: boolean;
  readonly maxRssMegabytes: number;
  /** The trend during the attack, in megabytes an hour; null for too few samples. */
  readonly rssSlope: number | null;
  readonly maxStallSeconds: number;
  /** Processor time a second of wall time, during the attack. */
  readonly cpuShare: number;
  readonly diskMegabytes: number;
  readonly met: Readonly<Record<string, Met>>;
  readonly floodMegabytes: number;
  /** Until everything was as before; null where it was not in time. */
  readonly recoveredAfterSeconds: number | null;
  /** Answers of the facts process for the overview, by status. */
  readonly factsStatuses: Readonly<Record<string, number>>;
}

/** The bound on the resident set of the instrument, in megabytes. */
export const maxRssMegabytes = 500;
