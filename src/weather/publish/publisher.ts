import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { writeArtifact } from '../../artifact/write.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { WeatherTelemetry } from '../stream/telemetry.ts';

/** Minimum interval between artifacts in milliseconds, which applies when many windows close together. */
const minIntervalMs = 1000;

/** Options of the publisher. */
export interface PublisherOptions {
  readonly path: string;
  readonly publishMs: number;
  readonly read: () => WeatherSummary;
  readonly clock: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
  /** Called if reading failed because of the store, in contrast to a failure to write the artifact. */
  readonly failed: (error: unknown) => void;
}

/**
 * Writer of the artifact. It writes at fixed times and soon after windows have closed, and never writes two artifacts
 * concurrently.
 */
export interface Publisher {
  /**
   * Writes an artifact now, after any pending one. Never rejects: a failed write leaves the last good artifact in
   * place.
   */
  now(): Promise<void>;
  /** Schedules a write of the artifact after a short delay. */
  soon(): void;
  start(): void;
  /** Stops the schedule, and waits for the pending write. */
  stop(): Promise<void>;
}

/** Creates a publisher, which does nothing before `start`. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { path, publishMs, read, clock, log, telemetry, failed } = options;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let soonTimer: NodeJS.Timeout | null = null;

  async function write(): Promise<void> {
    let summary: WeatherSummary;
    try {
      summary = read();
    } catch (error) {
      failed(error);
      return;
    }
    try {
      await writeArtifact(path, summary);
      telemetry.published(clock());
    } catch (error) {
      telemetry.notWritten('artifact');
      log.error('the artifact could not be written; the last one remains', errorFields(error));
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

/** Removes temporary files of an earlier process that was killed during a write. */
export async function sweepTemporaries(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `.${basename(path)}.`;
  const left = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'));
  await Promise.all(left.map((name) => unlink(join(folder, name))));
}
