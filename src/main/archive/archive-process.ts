import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Archiver, createArchiver } from '../../archive/archiver.ts';
import { fetchFact } from '../../archive/fetch-fact.ts';
import { openArchiveFiles } from '../../archive/files/archive-files.ts';
import { isKeyName } from '../../archive/log/keys.ts';
import { keptInFile, openDayLog } from '../../archive/signing/day-log.ts';
import { readOrCreateKey } from '../../archive/signing/key-file.ts';
import { checkpointPath } from '../../archive/signing/log-files.ts';
import { describeLeak, findLeak } from '../../facts/privacy.ts';
import { scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { httpSchemes } from '../../input/url.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import { makeFolder } from '../../ops/folder.ts';
import { createLog, type Log } from '../../ops/log.ts';
import type { Values } from '../../ops/setting.ts';
import { StoreError } from '../../store/errors.ts';
import { takeWriterLock, type WriterLock } from '../../store/sqlite/base/lock.ts';
import type { CommandContext } from '../command.ts';
import { userAgentFor } from '../contact-setting.ts';
import { operatorUrl } from '../operator-url.ts';
import { type Running, serveUntilStopped } from '../serve.ts';
import type { archiveSettings } from './archive-settings.ts';

type ArchiveValues = Values<typeof archiveSettings>;

/** Name of the lock file of a running archive. */
const lockName = '.archive.lock';
const requestTimeoutMs = 10_000;
/** Maximum time between two looks at the clock, which may be set, in milliseconds. */
const maxWaitMs = 60_000;

/** Archives until a signal arrives; resolves with the exit code. */
export function archive(values: ArchiveValues, print: CommandContext['print']): Promise<number> {
  const log = createLog('archive', values.logLevel);
  return serveUntilStopped({
    metricsPort: null,
    collectMetrics: false,
    log,
    start: () => {
      const running = startArchive(values, log);
      print(`almanac archive writing to ${values.archive}`);
      return Promise.resolve(running);
    },
  });
}

/** Starts an archive. Throws OperatorError if its directory or key cannot be used. */
function startArchive(values: ArchiveValues, log: Log): Running {
  const base = operatorUrl('facts', values.facts, { schemes: httpSchemes }).href.replace(/\/+$/, '');
  makeFolder(values.archive);
  const lock = takeLock(values.archive);
  const stopping = new AbortController();
  try {
    const archiver = openArchiver(values, { base, log, stop: stopping.signal });
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
  readonly stop: AbortSignal;
}

function openArchiver(values: ArchiveValues, { base, log, stop }: ArchiverContext): Archiver {
  const files = openFiles(values.archive);
  const path = values.archiveKey ?? `${resolve(values.archive)}.key`;
  const name = values.logName ?? `almanac-archive-${randomBytes(4).toString('hex')}`;
  if (!isKeyName(name)) throw new OperatorError('--log-name requires a name without spaces and plus signs');
  const mayCreate = files.read(checkpointPath) === null;
  const key = readOrCreateKey({ path, name, mayCreate, random: randomBytes });
  const dayLog = openDayLog({ files, key, kept: keptInFile(`${path}.checkpoint`) });
  const userAgent = userAgentFor(values);
  const request = { base, fetch: globalThis.fetch, userAgent, timeoutMs: requestTimeoutMs, stop };
  return createArchiver({
    files,
    dayLog,
    key: key.verifier.text,
    fetchFact: (fact) => fetchFact(fact, request),
    findIdentity,
    clock: Date.now,
    random: Math.random,
    log,
  });
}

function openFiles(folder: string) {
  try {
    return openArchiveFiles(folder);
  } catch (error) {
    throw new OperatorError(`cannot use the directory ${folder}: ${systemWords(error)}`);
  }
}

/** Takes the lock of the directory, which is released when the process ends for any reason. */
function takeLock(folder: string): WriterLock {
  try {
    return takeWriterLock(join(folder, lockName));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const why = error.code === 'second_writer' ? 'another process archives there; stop it first' : error.message;
    throw new OperatorError(`cannot archive in ${folder}: ${why}`);
  }
}

async function runUntilStopped(archiver: Archiver, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const waitMs = await archiver.tick();
    await delay(Math.min(waitMs, maxWaitMs), undefined, { signal: stop }).catch(() => {
      // The wait ends early when the process stops.
    });
  }
}

/** Applies the privacy scan of the facts API. A body that is not JSON is scanned as a text. */
function findIdentity(body: Uint8Array): string | null {
  const leak = findLeak(parsedBody(body));
  return leak && describeLeak(leak);
}

function parsedBody(body: Uint8Array): object {
  const text = Buffer.from(body).toString('utf8');
  if (scanJson(body, inputLimits.archivedFact).fault !== null) return { text };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : { text };
  } catch {
    return { text };
  }
}
