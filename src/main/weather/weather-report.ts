import type { WeatherTelemetry } from '../../weather/stream/telemetry.ts';

/** Report of the weather process to its parent: information that no artifact contains. */
export interface WeatherReport {
  readonly report: 'weather';
  readonly connected: boolean;
  /** Reason for the missing connection, as the telemetry names it; null before the first failure. */
  readonly cause: string | null;
  /** Seconds between the newest counted event and this machine's clock; null before the first. */
  readonly lagSeconds: number | null;
}

/** Minimum interval of reports without news, in milliseconds. */
const everyMs = 1_000;

/** A telemetry that also calls `send` with reports. `now` is monotonic, in milliseconds. */
export function reportingTelemetry(
  telemetry: WeatherTelemetry,
  send: (report: WeatherReport) => void,
  now: () => number,
): WeatherTelemetry {
  let last: WeatherReport = { report: 'weather', connected: false, cause: null, lagSeconds: null };
  let sentAt = Number.NEGATIVE_INFINITY;
  const update = (change: Partial<WeatherReport>, isNews: boolean): void => {
    last = { ...last, ...change };
    if (!isNews && now() - sentAt < everyMs) return;
    sentAt = now();
    send(last);
  };
  return {
    ...telemetry,
    connected: (role) => {
      telemetry.connected(role);
      if (role === 'live') update({ connected: true, cause: null }, true);
    },
    disconnected: (role, cause) => {
      telemetry.disconnected(role, cause);
      if (role === 'live') update({ connected: false, cause }, true);
    },
    lag: (lagSeconds) => {
      telemetry.lag(lagSeconds);
      update({ lagSeconds }, false);
    },
  };
}

/** Reads a message of a part's channel; null for anything else. */
export function readReport(message: unknown): WeatherReport | null {
  if (typeof message !== 'object' || message === null) return null;
  const { report, connected, cause, lagSeconds } = message as Readonly<Record<string, unknown>>;
  if (report !== 'weather' || typeof connected !== 'boolean') return null;
  return {
    report,
    connected,
    cause: typeof cause === 'string' ? cause : null,
    lagSeconds: typeof lagSeconds === 'number' ? lagSeconds : null,
  };
}

/** Returns the channel to the parent process; null if there is none. */
export function parentChannel(): ((report: WeatherReport) => void) | null {
  if (process.send === undefined) return null;
  return (report) => {
    // The parent process may be exiting.
    if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
  };
}
