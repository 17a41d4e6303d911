import type { FrameOutcome } from '../window/track.ts';

/** Roles of the stream's readers. The live reader reads current events, and the backfill reads earlier events. */
export type ReaderRole = 'live' | 'backfill';

/** Ranks of the observed hosts, in order of preference. */
export const hostPlaces = ['first', 'second'] as const;
/** Rank of an observed host. The preferred host is `first`. */
export type HostPlace = (typeof hostPlaces)[number];

/**
 * State of a host's live connection. `cause` is the reason for the last failure, or null until the first attempt has
 * ended.
 */
type HostConnection = { readonly isConnected: true } | { readonly isConnected: false; readonly cause: string | null };

/** Metrics of the instrument. Every dimension has a closed set of values. */
export interface WeatherTelemetry {
  frames(outcomes: Readonly<Record<FrameOutcome, number>>): void;
  /**
   * Reports the seconds between the newest counted event and this machine's clock, at each commit and when a session
   * with a stored position starts. `newestMs` is the time of that event, in milliseconds since 1970. The value is not
   * updated between these calls, even while nothing is received.
   */
  lag(seconds: number, newestMs: number): void;
  connected(role: ReaderRole): void;
  /** Records that a connection ended, or could not be opened. */
  disconnected(role: ReaderRole, cause: string): void;
  /** Records seconds of the stream's clock that count as not observed. */
  gap(seconds: number): void;
  /** Records that a position was abandoned, because it is invalid or the stream does not contain it. */
  positionReset(): void;
  committed(windows: number, milliseconds: number): void;
  /** Records a failed write of a commit or an artifact. */
  notWritten(what: 'store' | 'artifact'): void;
  published(atMs: number): void;
  /** Records that the live connection of a host was established or ended. Called once for each host at startup. */
  hostConnection(host: HostPlace, connection: HostConnection): void;
  /** Records the lag of one host, as `lag` does for the first host. */
  hostLag(host: HostPlace, seconds: number, newestMs: number): void;
  /**
   * Records, after each reading, which host the artifact describes. `sinceMs` is the time of the failover, in
   * milliseconds since 1970, or null for the first host.
   */
  publishedHost(host: HostPlace, sinceMs: number | null): void;
}

/** Telemetry that discards everything. */
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

/** Returns the telemetry for one host's sessions. The stream metrics are recorded only for the first host. */
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
