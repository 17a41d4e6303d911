import type { AddressPolicy } from '../../network/guard/address-policy.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { Clocks } from '../clock/clock-watch.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { Timings } from '../stream/timings.ts';

/** Settings of the label instrument. */
export interface LabelsSettings {
  /** Directory of the store, on whose disk the free space is monitored. */
  readonly folder: string;
  readonly artifacts: string;
  readonly windowDays: number;
  /** DIDs of the seeds file. */
  readonly seeds: readonly string[];
  readonly relays: readonly string[];
  readonly plc: string;
  /** URLs of directories that are requested if the first does not respond; none by default. */
  readonly plcReplicas?: readonly string[];
  /** URL of the Jetstream; null disables this way of discovery. */
  readonly jetstream: string | null;
  /** User agent that is sent with every request and handshake. */
  readonly userAgent: string;
  readonly publishSeconds: number;
  readonly discoverySeconds: number;
  readonly origin: 'live' | 'simulated';
  readonly minFreeBytes: number;
  /** Maximum bytes that all sources together may add in a UTC day; null derives the limit from the size of the disk. */
  readonly dailyBytes?: number | null;
  /** Maximum rows of one source in a day (2 M). Tests lower it. */
  readonly maxDailyRows?: number;
  /** Maximum sources that are read at once (5,000). Tests lower it. */
  readonly maxEnrolled?: number;
  /** Maximum open streams of one host (32); further labelers of the host are polled. */
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
   * Looks up the TXT records that confirm handles; absent: the system's resolver. With null, no handle is confirmed.
   */
  readonly resolveTxt?: ((name: string, signal: AbortSignal) => Promise<string[][]>) | null;
  readonly log: Log;
  readonly telemetry: Telemetry;
}
