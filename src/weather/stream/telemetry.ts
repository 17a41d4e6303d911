import type { FrameOutcome } from '../window/track.ts';

/** Roles of the stream's readers. The live reader reads current events, and the backfill reads earlier events. */
export type ReaderRole = 'live' | 'backfill';

/** Places of the observed hosts, in order of preference. */
export const hostPlaces = ['first', 'second'] as const;
/** Place of an observed host. The preferred host is the first. */
export type HostPlace = (typeof hostPlaces)[number];

/**
 * State of a host's live connection. The cause is that of the last failure, or null until the first attempt has ended.
 */
export type HostConnection =
  | { readonly isConnected: true }
  | { readonly isConnected: false; readonly cause: string | null };

/** Metrics of the instrument. Every dimension has a closed list of values. */
export interface WeatherTelemetry {
  frames(outcomes: Readonly<Record<FrameOutcome, number>>): void;
  /**
   * Seconds between the newest counted event and this machine's clock, at a commit and at the start of a session with a
   * stored position; `newestMs` is the time of that event, in milliseconds since 1970. Between these calls the lag is
   * not updated, even while nothing is received.
   */
  lag(seconds: number, newestMs: number): void;
  connected(role: ReaderRole): void;
  /** Records that a connection ended, or could not be opened. */
  disconnected(role: ReaderRole, cause: string): void;
  /** Records seconds of the stream's clock that count as not observed. */
  gap(seconds: number): void;
  /** Records that the position was abandoned, because the stream does not contain it. */
  positionReset(): void;
  committed(windows: number, milliseconds: number): void;
  /** Records a failed write of a commit or an artifact. */
  notWritten(what: 'store' | 'artifact'): void;
  published(atMs: number): void;
  /** Records that the live connection of a host was established or ended. Called once for each host at the start. */
  hostConnection(host: HostPlace, connection: HostConnection): void;
  /** Records the lag of one host. */
  hostLag(host: HostPlace, seconds: number, newestMs: number): void;
  /**
   * Records, after each reading, the host that the artifact describes. `sinceMs` is the instant of a failover, or null
   * for the first host.
   */
  publishedHost(host: HostPlace, sinceMs: number | null): void;
}

/** Telemetry that discards all metrics. */
export const noTelemetry: WeatherTelemetry = {
  frames: () => undefined,
  lag: () => undefined,
  connected: () => undefined,
  disconnected: () => undefined,
  gap: () => undefined,
  positionReset: () => undefined,
  committed: () => undefined,
  notWritten: () => undefined,
  published: () => undefined,
  hostConnection: () => undefined,
  hostLag: () => undefined,
  publishedHost: () => undefined,
};

/** Returns the telemetry of one host's sessions. The metrics of the stream are recorded only for the first host. */
export function telemetryOfHost(telemetry: WeatherTelemetry, host: HostPlace): WeatherTelemetry {
  const own = host === 'first' ? telemetry : noTelemetry;
  return {
    ...own,
    connected: (role) => {
      own.connected(role);
      if (role === 'live') telemetry.hostConnection(host, { isConnected: true });
    },
    disconnected: (role, cause) => {
      own.disconnected(role, cause);
      if (role === 'live') telemetry.hostConnection(host, { isConnected: false, cause });
    },
    lag: (seconds, newestMs) => {
      own.lag(seconds, newestMs);
      telemetry.hostLag(host, seconds, newestMs);
    },
  };
}
