import type { AddressPolicy } from '../../network/guard/address-policy.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { Clocks } from '../clock/clock.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { InstrumentRole } from '../standby/standby-store.ts';
import type { Timings } from '../stream/open-stream.ts';

/** Settings of the label instrument. */
export interface LabelsSettings {
  /**
   * Directory of the store; the free space of its disk is monitored. For a remote store: the directory of the local
   * files that accompany the store.
   */
  readonly folder: string;
  /** True if the store is in a database, whose free space is unknown. Default: false. */
  readonly isStoreRemote?: boolean;
  readonly artifacts: string;
  readonly windowDays: number;
  /** DIDs of the seeds file. */
  readonly seeds: readonly string[];
  readonly relays: readonly string[];
  readonly plc: string;
  /**
   * URLs of replicas of the directory, which are requested in turn if the primary does not respond. Default: no
   * replica.
   */
  readonly plcReplicas?: readonly string[];
  /** URL of the Jetstream, or null if labelers are not discovered through a Jetstream. */
  readonly jetstream: string | null;
  /** User agent that is sent with every request and handshake. */
  readonly userAgent: string;
  readonly publishSeconds: number;
  readonly discoverySeconds: number;
  readonly origin: 'live' | 'simulated';
  readonly minFreeBytes: number;
  /**
   * Maximum number of bytes that all sources together may add in a UTC day; null to derive it from the free space of
   * the disk.
   */
  readonly dailyBytes?: number | null;
  /** Maximum number of rows of one source in a day (default 2 million). Tests use a lower limit. */
  readonly maxDailyRows?: number;
  /** Maximum number of sources that are read concurrently (default 5,000). */
  readonly maxEnrolled?: number;
  /** Maximum number of open streams of one host (default 32). Further labelers of the host are polled. */
  readonly maxStreamsPerHost?: number;
  readonly timings: Timings;
}

/** Dependencies of the label instrument. */
export interface LabelsOptions {
  readonly settings: LabelsSettings;
  /** The opened store; the instrument closes it. */
  readonly store: StoreWriter;
  readonly policy: AddressPolicy;
  readonly clocks: Clocks;
  readonly random: () => number;
  /**
   * Looks up the TXT records that confirm handles. Default: the system's resolver. With null, no handle is confirmed.
   */
  readonly resolveTxt?: ((name: string, signal: AbortSignal) => Promise<string[][]>) | null;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Role of an instrument that may be a standby; absent if the instrument is always active. */
  readonly role?: InstrumentRole;
}
