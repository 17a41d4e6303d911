import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Archiver, type ArchiveTelemetry, noTelemetry } from '../../archive/archiver.ts';
import { factFetcher } from '../../archive/fetch-fact.ts';
import { openLogWithKeyFile } from '../../archive/log/day-log.ts';
import { isKeyName } from '../../archive/log/note.ts';
import { writeLoaders } from '../../archive/tables/loaders.ts';
import { httpSchemes } from '../../input/url.ts';
import { makeFolder, OperatorError, systemWords } from '../../ops/errors.ts';
import { createLog, type Log } from '../../ops/log.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import type { Values } from '../../ops/setting.ts';
import { findIdentity, findIdentityIn } from '../archived-identity.ts';
import { type Running, serveUntilStopped } from '../serve.ts';
import { operatorUrl, userAgentFor } from '../shared-settings.ts';
import type { archiveSettings } from './archive-settings.ts';
import { hoursReader, openFiles, packagedLoader, takeLock } from './archive-upkeep.ts';

type ArchiveValues = Values<typeof archiveSettings>;

const requestTimeoutMs = 10_000;
/** Maximum time between two checks of the clock, in milliseconds. Regular checks detect a changed clock. */
const maxWaitMs = 60_000;

/** Archives until a signal arrives. Resolves with the exit code. */
export function archive(values: ArchiveValues, print: (line: string) => void): Promise<number> {
  const log = createLog('archive', values.logLevel);
  return serveUntilStopped({
    metricsPort: values.metricsPort,
    collectMetrics: values.metricsPort !== null,
    log,
    start: async (registry) => {
      const telemetry = registry ? (await import('./archive-metrics.ts')).archiveMetrics(registry) : noTelemetry;
      const running = startArchive(values, log, telemetry);
      print(`almanac archive writing to ${values.archive}`);
      if (values.artifacts === null) print('without --artifacts, the tables of the archive stay empty');
      return running;
    },
  });
}

/** Starts an archive. Throws OperatorError if its directory or key cannot be used. */
function startArchive(values: ArchiveValues, log: Log, telemetry: ArchiveTelemetry): Running {
  const base = operatorUrl('facts', values.facts, { schemes: httpSchemes }).href.replace(/\/+$/, '');
  makeFolder(values.archive);
  const lock = takeLock(values.archive);
  const stopping = new AbortController();
  try {
    const archiver = openArchiver(values, { base, log, telemetry, stop: stopping.signal });
    const done = runUntilStopped(archiver, stopping.signal);
    return {
      failed: done.then(() => new Promise<never>(() => undefined)),
      async stop() {
        stopping.abort();
        await done.finally(() => lock.release());
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface ArchiverContext {
  readonly base: string;
  readonly log: Log;
  readonly telemetry: ArchiveTelemetry;
  readonly stop: AbortSignal;
}

function openArchiver(values: ArchiveValues, { base, log, telemetry, stop }: ArchiverContext): Archiver {
  const files = openFiles(values.archive);
  const path = values.archiveKey ?? `${resolve(values.archive)}.key`;
  const name = values.logName ?? `almanac-archive-${randomBytes(4).toString('hex')}`;
  if (!isKeyName(name)) throw new OperatorError('--log-name requires a name without spaces or plus signs');
  const dayLog = openLogWithKeyFile({ files, path, name, random: randomBytes });
  try {
    writeLoaders(files, packagedLoader);
  } catch (error) {
    // The archive is complete without them, and the next start writes them.
    log.warn('the loaders of the tables could not be written', { why: systemWords(error) });
  }
  const userAgent = userAgentFor(values);
  const onExpired = (why: string): void =>
    log.warn('a cache repeated an expired response, which is not archived', { why });
  const request = {
    base,
    fetch: serviceFetch,
    userAgent,
    timeoutMs: requestTimeoutMs,
    stop,
    clock: Date.now,
    onExpired,
  };
  return new Archiver({
    files,
    dayLog,
    fetchFact: factFetcher(request),
    findIdentity,
    findIdentityIn,
    readHours: hoursReader(values.artifacts, log),
    clock: Date.now,
    random: Math.random,
    log,
    telemetry,
  });
}

async function runUntilStopped(archiver: Archiver, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const waitMs = await archiver.tick();
    await delay(Math.min(waitMs, maxWaitMs), undefined, { signal: stop }).catch(() => {
      // The wait ends early when the process stops.
    });
  }
}
