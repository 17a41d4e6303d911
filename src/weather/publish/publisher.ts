import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { writeArtifact } from '../../artifact/write.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { WeatherTelemetry } from '../stream/telemetry.ts';

/** Minimum interval between artifacts, in milliseconds. It applies when many windows close at once. */
const minIntervalMs = 1000;

/** Options for the publisher. */
export interface PublisherOptions {
  readonly path: string;
  readonly hoursPath: string;
  readonly publishMs: number;
  /** Reads the summary. */
  readonly read: () => WeatherSummary;
  /** Reads the hours as of the last summary. */
  readonly readHours: () => WeatherHours;
  readonly clock: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
  /** Called if reading the store failed, but not if only writing the artifact failed. */
  readonly failed: (error: unknown) => void;
}

/**
 * Writes the summary and the hours file, at fixed intervals and soon after windows have closed. Never writes two
 * artifacts concurrently.
 */
export interface Publisher {
  /**
   * Writes an artifact now, after any pending write. Never rejects: if a write fails, the last good artifact stays in
   * place.
   */
  now(): Promise<void>;
  /** Schedules writing the artifact after a short delay. */
  soon(): void;
  start(): void;
  /** Stops the schedule, and waits for the pending write. */
  stop(): Promise<void>;
}

/** Creates a publisher. It does nothing until `start` is called. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { path, hoursPath, publishMs, read, readHours, clock, log, telemetry, failed } = options;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let soonTimer: NodeJS.Timeout | null = null;

  async function write(): Promise<void> {
    if (await replaced(path, read)) telemetry.published(clock());
    await replaced(hoursPath, readHours);
  }

  /**
   * Replaces a file. Returns false if its content could not be read from the store, or the file could not be written.
   */
  async function replaced(file: string, make: () => object): Promise<boolean> {
    let made: object;
    try {
      made = make();
    } catch (error) {
      failed(error);
      return false;
    }
    try {
      await writeArtifact(file, made);
      return true;
    } catch (error) {
      telemetry.notWritten('artifact');
      log.error('the artifact could not be written; the last one remains', {
        file: basename(file),
        ...errorFields(error),
      });
      return false;
    }
  }

  const now = (): Promise<void> => {
    writing = writing.then(write);
    return writing;
  };
  return {
    now,
    soon: () => {
      soonTimer ??= setTimeout(() => {
        soonTimer = null;
        void now();
      }, minIntervalMs);
    },
    start: () => {
      timer = setInterval(() => void now(), publishMs);
    },
    stop: async () => {
      if (timer) clearInterval(timer);
      if (soonTimer) clearTimeout(soonTimer);
      await writing;
    },
  };
}

/** Removes temporary files left by an earlier process that was killed during a write. */
export async function sweepTemporaries(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `.${basename(path)}.`;
  const left = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'));
  await Promise.all(left.map((name) => unlink(join(folder, name))));
}
