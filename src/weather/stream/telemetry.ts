import type { FrameOutcome } from '../window/track.ts';

/** Readers of the stream: the one that follows it, and the one that reads the time before. */
export type ReaderRole = 'live' | 'backfill';

/** Metrics of the instrument. Every dimension has a closed list of values. */
export interface WeatherTelemetry {
  frames(outcomes: Readonly<Record<FrameOutcome, number>>): void;
  /** Seconds between the newest counted event and this machine's clock. */
  lag(seconds: number): void;
  connected(role: ReaderRole): void;
  /** A connection ended, or could not be opened. */
  disconnected(role: ReaderRole, cause: string): void;
  /** Seconds of the stream's clock that were charged as not observed. */
  gap(seconds: number): void;
  /** The position was abandoned: the stream does not contain it. */
  positionReset(): void;
  committed(windows: number, milliseconds: number): void;
  /** A commit or an artifact could not be written. */
  notWritten(what: 'store' | 'artifact'): void;
  published(atMs: number): void;
}

/** Discards all metrics. */
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
};
