import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { writeArtifact } from '../../artifact/write.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { WeatherTelemetry } from '../stream/telemetry.ts';

/**
 * Delay of an artifact after a window has closed, in milliseconds. One artifact covers all windows that close during
 * the delay.
 */
const minIntervalMs = 1000;

/** Options for the publisher. */
export interface PublisherOptions {
  readonly path: string;
  readonly hoursPath: string;
  readonly publishMs: number;
  /** Reads the summary. */
  readonly read: () => WeatherSummary;
  /** Reads the content of the hours file for the time of the last summary. */
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
   * Writes the summary and the hours file after any pending write. Never rejects: a failed reading is passed to
   * `failed`, and after a failed write the last good file stays in place.
   */
  now(): Promise<void>;
  /** Schedules a write after a short delay, unless one is already scheduled. */
  soon(): void;
  start(): void;
  /** Stops the schedule, and waits for the pending write. */
  stop(): Promise<void>;
}

/** Creates a publisher. `start` begins the writing at fixed intervals; `now` and `soon` also work without it. */
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
      log.error('the artifact could not be written; the previous artifact remains in place', {
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
