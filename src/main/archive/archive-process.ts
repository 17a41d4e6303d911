import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Archiver, type ArchiveTelemetry } from '../../archive/archiver.ts';
import { isDay } from '../../archive/days/calendar.ts';
import { factFetcher } from '../../archive/fetch-fact.ts';
import { type ArchiveFiles, openArchiveFiles } from '../../archive/files/archive-files.ts';
import type { HoursReading, HoursReadings } from '../../archive/hours/hour-lists.ts';
import { openLogWithKeyFile } from '../../archive/log/day-log.ts';
import { type LoaderName, writeLoaders } from '../../archive/tables/loaders.ts';
import { rebuildDay, withdrawFile } from '../../archive/upkeep.ts';
import { verifyExitCodes } from '../../archive/verify/finding.ts';
import { hoursSource } from '../../artifact/hours/hours.ts';
import { recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { ArtifactSource, Reading } from '../../artifact/reading.ts';
import { artifactNames } from '../../artifact/write.ts';
import { makeFolder, OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { createLog, type Log } from '../../ops/log.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { StoreError } from '../../store/errors.ts';
import { takeWriterLock, type WriterLock } from '../../store/sqlite/base/files.ts';
import { findIdentity, findIdentityIn } from '../archived-identity.ts';
import { packageRoot } from '../command.ts';
import { type Running, serveUntilStopped } from '../serve.ts';
import { operatorBase, userAgentFor } from '../shared-settings.ts';
import type { ArchiveValues } from './archive-settings.ts';

const requestTimeoutMs = 10_000;
/** Maximum time between two checks of the clock, in milliseconds. Regular checks detect a changed clock. */
const maxWaitMs = 60_000;

/** Archives until a signal arrives. Resolves with the exit code. */
export function archive(values: ArchiveValues, print: (line: string) => void): Promise<number> {
  const log = createLog('archive', values.logLevel);
  return serveUntilStopped({
    metricsPort: values.metricsPort,
    log,
    start: async (registry) => {
      const telemetry = registry ? (await import('./archive-metrics.ts')).archiveMetrics(registry) : null;
      const running = startArchive(values, log, telemetry);
      print(`almanac archive writing to ${values.archive}`);
      if (values.artifacts === null) print('without --artifacts, the tables of the archive stay empty');
      return running;
    },
  });
}

/** Starts an archive. Throws OperatorError if its directory or key cannot be used. */
function startArchive(values: ArchiveValues, log: Log, telemetry: ArchiveTelemetry | null): Running {
  const base = operatorBase('facts', values.facts);
  makeFolder(values.archive);
  const { files, release } = lockArchive(values.archive);
  const stopping = new AbortController();
  try {
    const archiver = openArchiver(values, { base, files, log, telemetry, stop: stopping.signal });
    const done = runUntilStopped(archiver, stopping.signal);
    return {
      failed: done.then(() => new Promise<never>(() => undefined)),
      async stop() {
        stopping.abort();
        await done.finally(release);
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

interface ArchiverContext {
  readonly base: string;
  readonly files: ArchiveFiles;
  readonly log: Log;
  readonly telemetry: ArchiveTelemetry | null;
  readonly stop: AbortSignal;
}

function openArchiver(values: ArchiveValues, { base, files, log, telemetry, stop }: ArchiverContext): Archiver {
  const path = values.archiveKey ?? `${resolve(values.archive)}.key`;
  const name = values.logName ?? `almanac-archive-${randomBytes(4).toString('hex')}`;
  const dayLog = openLogWithKeyFile({ files, path, name, random: randomBytes });
  try {
    writeLoaders(files, packagedLoader);
  } catch (error) {
    // The archive is complete without them, and the next start writes them.
    log.warn('the loaders of the tables could not be written', { why: systemWords(error) });
  }
  const fetchFact = factFetcher({
    base,
    fetch: serviceFetch,
    userAgent: userAgentFor(values),
    timeoutMs: requestTimeoutMs,
    stop,
    clock: Date.now,
    onExpired: (why) =>
      log.warn('a response has expired and is not archived: a cache repeats it, or the clocks differ', { why }),
  });
  return new Archiver({
    files,
    dayLog,
    fetchFact,
    findIdentity,
    findIdentityIn,
    readHours: hoursReader(values.artifacts, log),
    clock: Date.now,
    random: Math.random,
    log,
    ...(telemetry && { telemetry }),
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

/**
 * Returns a function that reads the hours files in a directory of artifacts. The function returns null if no directory
 * is given.
 */
function hoursReader(artifacts: string | null, log: Log): () => HoursReadings | null {
  if (artifacts === null) return () => null;
  const clock = Date.now;
  const weatherPath = join(artifacts, artifactNames.weatherHours);
  const labelsPath = join(artifacts, artifactNames.labelsHours);
  const weather = hoursSource({ path: weatherPath, recognise: recogniseWeatherHours, clock });
  const labels = hoursSource({ path: labelsPath, recognise: recogniseLabelsHours, clock });
  const logged = new Map<string, string>();
  const read = <A>(source: ArtifactSource<A>, path: string): HoursReading<A> => {
    const reading = source.read();
    const why = reading.kind === 'readable' ? '' : reading.why;
    if (why !== '' && logged.get(path) !== why)
      log.warn('an hours file cannot be read or is invalid, so its hours are not archived', { path, why });
    logged.set(path, why);
    return hoursReadingOf(reading);
  };
  return () => ({ weather: read(weather, weatherPath), labels: read(labels, labelsPath) });
}

/** Converts the reading of an hours file to the form that an archiver stores. */
export function hoursReadingOf<A>(reading: Reading<A>): HoursReading<A> {
  if (reading.kind === 'readable') return reading;
  return { kind: 'failure', reason: reading.kind === 'unknown_schema' ? 'malformed' : reading.kind };
}

/** Returns the bytes of a loader of an archive's tables, which the package contains among its examples. */
export function packagedLoader(name: LoaderName): Buffer {
  const folder = join(packageRoot(), 'examples');
  return readFileSync(name === 'archive_month.py' ? join(folder, name) : join(folder, 'archive', name));
}

/**
 * `almanac archive rebuild DAY`: recomputes the derived files of a closed day, restores missing and damaged files,
 * and reports the result for each file. Resolves with the exit code. Throws OperatorError if the operands are invalid
 * or the day cannot be rebuilt.
 */
export function rebuild(
  operands: readonly string[],
  values: ArchiveValues,
  print: (line: string) => void,
): Promise<number> {
  const [day = '', ...more] = operands;
  if (!isDay(day) || more.length > 0)
    throw new OperatorError('archive rebuild requires exactly one DAY, such as 2026-11-20');
  const results = withFiles(values.archive, (files) => rebuildDay(files, day, findIdentityIn));
  for (const { name, result } of results) print(`${result}: days/${day}/${name}`);
  const isDifferent = results.some(({ result }) => result === 'different');
  return Promise.resolve(isDifferent ? verifyExitCodes.altered : verifyExitCodes.intact);
}

/**
 * `almanac archive withdraw DAY FILE`: withdraws a published file. Resolves with the exit code. Throws OperatorError if
 * the operands or the reason are invalid, or if the file cannot be withdrawn.
 */
export function withdraw(
  operands: readonly string[],
  values: ArchiveValues,
  print: (line: string) => void,
): Promise<number> {
  const [day = '', name, ...more] = operands;
  if (!isDay(day) || name === undefined || more.length > 0) {
    throw new OperatorError('archive withdraw requires a DAY and the name of one of its files');
  }
  const { reason } = values;
  if (reason === null)
    throw new OperatorError('archive withdraw requires a --reason, which is published in place of the file');
  if (findIdentity(Buffer.from(JSON.stringify({ reason }))) !== null) {
    throw new OperatorError('--reason would be published, but names an account or a host');
  }
  const result = withFiles(values.archive, (files) => withdrawFile({ files, day, name, reason, now: Date.now() }));
  print(
    result === 'removed'
      ? `withdrawn: days/${day}/${name}; days/${day}/withdrawn.json keeps its digest`
      : `withheld: the content of days/${day}/${name}; the day is still open, and archiving continues`,
  );
  return Promise.resolve(verifyExitCodes.intact);
}

/**
 * Runs a step on the files of an archive while holding its lock, so that no archiver uses them at the same time. Throws
 * OperatorError if the directory does not exist, is locked or cannot be written, or if root would write files in the archive
 * of another user, whose archiver could not append to them.
 */
function withFiles<T>(folder: string, step: (files: ArchiveFiles) => T): T {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) throw new OperatorError(`no such directory: ${folder}`);
  // An archiver may write in a directory of another user, for example as root in a container. It has created the lock file.
  const { uid } = statSync(join(folder, lockName), { throwIfNoEntry: false }) ?? stats;
  if (process.getuid?.() === 0 && uid !== 0)
    throw new OperatorError(`${folder} belongs to the user ${uid}: run this command as that user`);
  const { files, release } = lockArchive(folder);
  try {
    return step(files);
  } catch (error) {
    if (error instanceof OperatorError || systemCode(error) === null) throw error;
    throw new OperatorError(`cannot write in ${folder}: ${systemWords(error)}`);
  } finally {
    release();
  }
}

/** The files of an archive, which no other process uses until `release`. */
interface LockedArchive {
  readonly files: ArchiveFiles;
  release(): void;
}

/** Name of the lock file of a running archive. */
const lockName = '.archive.lock';

/**
 * Locks an archive directory and opens its files. The lock is also released when the process ends for any reason. Throws
 * OperatorError if another process holds the lock or the directory cannot be used.
 */
export function lockArchive(folder: string): LockedArchive {
  const { release } = takeLock(folder);
  try {
    return { files: openArchiveFiles(folder), release };
  } catch (error) {
    release();
    throw new OperatorError(`cannot use the directory ${folder}: ${systemWords(error)}`);
  }
}

function takeLock(folder: string): WriterLock {
  try {
    return takeWriterLock(join(folder, lockName));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const why = error.code === 'second_writer' ? 'another process is archiving there; stop it first' : error.message;
    throw new OperatorError(`cannot archive in ${folder}: ${why}`);
  }
}
