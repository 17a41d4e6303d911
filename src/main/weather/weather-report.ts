import { type HostPlace, hostPlaces, type WeatherTelemetry } from '../../weather/stream/telemetry.ts';

/** State of one observed host in a report. */
export interface HostReport {
  readonly connected: boolean;
  /** Reason why there is no connection, as the telemetry names it. Null before the first failure. */
  readonly cause: string | null;
  /** Seconds between the newest counted event and this machine's clock. Null before the first event. */
  readonly lagSeconds: number | null;
}

/** Report of the weather process to its parent, with information that no artifact contains. */
export interface WeatherReport {
  readonly report: 'weather';
  /** The observed hosts, the preferred one first. */
  readonly hosts: readonly HostReport[];
  /**
   * Time at which the second host became the published host, in milliseconds since 1970. Null while the first host is
   * published.
   */
  readonly failoverSince: number | null;
}

/** Minimum interval between two reports if the state does not change, in milliseconds. */
const everyMs = 1_000;

/** Creates telemetry that also passes reports to `send`. `now` is a monotonic clock in milliseconds. */
export function reportingTelemetry(
  telemetry: WeatherTelemetry,
  send: (report: WeatherReport) => void,
  now: () => number,
): WeatherTelemetry {
  const hosts = new Map<HostPlace, HostReport>();
  let failoverSince: number | null = null;
  let sentAt = Number.NEGATIVE_INFINITY;
  const update = (isNews: boolean): void => {
    if (!isNews && now() - sentAt < everyMs) return;
    sentAt = now();
    send({ report: 'weather', hosts: hostPlaces.flatMap((place) => hosts.get(place) ?? []), failoverSince });
  };
  const change = (host: HostPlace, part: Partial<HostReport>): void => {
    hosts.set(host, { connected: false, cause: null, lagSeconds: null, ...hosts.get(host), ...part });
  };
  return {
    ...telemetry,
    hostConnection: (host, connection) => {
      telemetry.hostConnection(host, connection);
      const cause = connection.isConnected ? null : connection.cause;
      change(host, { connected: connection.isConnected, cause });
      update(true);
    },
    hostLag: (host, lagSeconds, newestMs) => {
      telemetry.hostLag(host, lagSeconds, newestMs);
      change(host, { lagSeconds });
      update(false);
    },
    publishedHost: (host, sinceMs) => {
      telemetry.publishedHost(host, sinceMs);
      const isNews = sinceMs !== failoverSince;
      failoverSince = sinceMs;
      if (isNews) update(true);
    },
  };
}

/** Parses a message on a part's channel. Returns null for anything other than a report. */
export function readReport(message: unknown): WeatherReport | null {
  if (typeof message !== 'object' || message === null) return null;
  const { report, hosts, failoverSince } = message as Readonly<Record<string, unknown>>;
  if (report !== 'weather' || !Array.isArray(hosts)) return null;
  return {
    report,
    hosts: hosts.slice(0, hostPlaces.length).map(readHost),
    failoverSince: typeof failoverSince === 'number' ? failoverSince : null,
  };
}

function readHost(value: unknown): HostReport {
  const { connected, cause, lagSeconds } = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  return {
    connected: connected === true,
    cause: typeof cause === 'string' ? cause : null,
    lagSeconds: typeof lagSeconds === 'number' ? lagSeconds : null,
  };
}
