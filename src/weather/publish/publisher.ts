import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { writeArtifact } from '../../artifact/write.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { WeatherTelemetry } from '../stream/telemetry.ts';

/** Minimum interval between artifacts while many windows close at once, in milliseconds. */
const minIntervalMs = 1000;

/** Options of the publisher. */
export interface PublisherOptions {
  readonly path: string;
  readonly publishMs: number;
  readonly read: () => WeatherSummary;
  readonly clock: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
  /** Reading failed: the store's fault, not the artifact's. */
  readonly failed: (error: unknown) => void;
}

/** Writes the artifact: at fixed times, and soon after windows closed. One at a time. */
export interface Publisher {
  /** Writes one now, whatever is under way. Never rejects: what cannot be written leaves the last good one in place. */
  now(): Promise<void>;
  /** Writes one soon. */
  soon(): void;
  start(): void;
  /** Ends the schedule, and waits for what is being written. */
  stop(): Promise<void>;
}

/** Makes a publisher; nothing runs before `start`. */
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
      log.error('the artifact could not be written; the last one stays', errorFields(error));
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

/** Removes what an earlier process was killed over while it wrote. */
export async function sweepTemporaries(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `.${basename(path)}.`;
  const left = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'));
  await Promise.all(left.map((name) => unlink(join(folder, name))));
}
