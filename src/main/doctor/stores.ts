import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readDenyFile } from '../../labels/operator/deny-file.ts';
import { describeCode, OperatorError, systemCode } from '../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../store/errors.ts';
import { companionFolder, inspect, storeProcesses } from '../../store/open.ts';
import { isPostgresUrl } from '../../store/postgres/base/place.ts';
import type { Purge } from '../../store/removals.ts';
import { oldestWeatherStoreVersion, weatherStoreVersion } from '../../weather/window/store-schema.ts';
import { storeFile } from '../../weather/window/window-store.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Maximum age of a running writer's heartbeat, in milliseconds; a writer updates it every 10 s. */
const silentMs = 60_000;

/** Results of checking the label store. */
interface StoreFindings {
  readonly findings: readonly Finding[];
  /** Disk usage of the store, in bytes. */
  readonly bytes: number;
  /** Id of the store's epoch, or null if it cannot be read. */
  readonly generation: string | null;
}

/**
 * Checks the label store: opens it, and reports its schema, epoch, days, heartbeat and writer. `now` is in milliseconds
 * since 1970.
 */
export async function checkStore(url: string, now: number): Promise<StoreFindings> {
  const check = 'label store';
  try {
    const {
      schema,
      epoch,
      heartbeat,
      writing,
      sealedDays,
      openDays,
      missingDays,
      unverifiedDays,
      pendingPurges,
      bytes,
    } = await inspect(url);
    const since = new Date(epoch.startedAt / 1000).toISOString();
    const unverified = unverifiedDays.length === 0 ? '' : `, ${unverifiedDays.length} of them unverified`;
    const found = `schema ${schema}, epoch since ${since}, ${sealedDays} sealed${unverified} and ${openDays} open days, ${(bytes / 1e9).toFixed(2)} GB`;
    const store =
      missingDays.length > 0
        ? fail(check, `the files of ${missingDays.join(', ')} are missing`, 'restore them, or a backup')
        : ok(check, `${found} (almanac labels verify recomputes its counters)`);
    return {
      findings: [
        store,
        writer(writing, heartbeat === null ? null : now - heartbeat / 1000),
        ...(writing ? [await standby(url)] : []),
        ...removals(pendingPurges),
      ],
      // Report no disk usage for a database, which may be on another machine.
      bytes: isPostgresUrl(url) ? 0 : bytes,
      generation: epoch.generationId,
    };
  } catch (error) {
    return { findings: [refused(check, url, error)], bytes: 0, generation: null };
  }
}

function writer(writing: boolean, silence: number | null): Finding {
  const check = 'label writer';
  // The stored heartbeat never decreases, so it stays ahead of a clock that was set back.
  const ahead = silence !== null && silence < -silentMs ? `${Math.round(-silence / 1000)} s in the future` : null;
  const seconds = silence === null ? null : `${Math.max(0, Math.round(silence / 1000))} s ago`;
  if (!writing) {
    const last = ahead === null ? seconds && `the last one was active ${seconds}` : `the last heartbeat is ${ahead}`;
    return warn(
      check,
      `none is running${last === null ? '' : `; ${last}`}`,
      'start almanac labels: the time until it runs is a gap',
    );
  }
  if (ahead !== null) {
    return fail(
      check,
      `a process holds the store, but its last heartbeat is ${ahead}: the clock was set back, or differs from that of its machine`,
      'until the clock reaches that time, it may be stuck or store no labels: docs/operations/incidents.md#the-clock-was-set',
    );
  }
  if (silence !== null && silence > silentMs) {
    return fail(
      check,
      `a process holds the store, but was last active ${seconds}`,
      'it is stuck: check its log and restart it',
    );
  }
  return ok(check, `one is running${seconds === null ? '' : `, active ${seconds}`}; a second writer would be refused`);
}

/** Time within which a running standby must show a heartbeat, in milliseconds. */
const beatMs = 1_500;

/** Reports the standby of a running writer. A missing standby is not a problem. */
async function standby(url: string): Promise<Finding> {
  const check = 'label standby';
  const { standby: first } = await storeProcesses(url);
  if (first === null) return ok(check, 'no standby is running; a restart of the writer causes a gap: docs/standby.md');
  await wait(beatMs);
  const { standby: second } = await storeProcesses(url);
  if (second?.beat === first.beat) {
    return fail(check, `${first.name} shows no heartbeat`, 'it is suspended or stuck: restart it');
  }
  if (second?.state === 'ready') return ok(check, `${second.name} can replace the writer without a gap`);
  return warn(check, `${first.name} is not ready yet`, 'wait a minute; if this persists, see the log of the standby');
}

/** Reports purges in progress. Returns no finding if no purge is in progress. */
function removals(pending: readonly Purge[]): Finding[] {
  if (pending.length === 0) return [];
  const days = pending.reduce((sum, { daysLeft }) => sum + daysLeft, 0);
  const found = `rows of ${pending.length} labelers are being removed; stored days to process: ${days} (almanac labels purge shows them)`;
  return [ok('removal of rows', found)];
}

const remedies: Partial<Record<StoreErrorCode, string>> = {
  schema_newer: 'run the version that wrote it, or a newer one',
  damaged:
    'keep the directory and run almanac labels verify --repair, restore FROM or new-epoch: docs/operations/incidents.md',
  io_failed: 'check the disk and the permissions of the directory: docs/operations/incidents.md',
  unfinished_copy: 'repeat almanac store copy until it has finished: docs/operations/copy.md',
  commits_lost: 'start the instrument again: docs/operations/postgres.md',
  misconfigured: 'correct the setting, the file that it names, or the server: docs/operations/postgres.md',
  unexpected: 'start again; if it recurs: docs/operations/incidents.md',
  busy: 'try again',
  unreachable: 'check the server, its name and the TLS settings in the URL: docs/operations/postgres.md',
};

function refused(check: string, url: string, error: unknown): Finding {
  if (error instanceof StoreError) {
    if (error.code === 'not_a_store') return warn(check, error.message, 'the first start of almanac labels creates it');
    return fail(check, error.message, remedies[error.code] ?? 'see docs/operations.md');
  }
  if (error instanceof OperatorError) return fail(check, error.message, 'correct the setting');
  const code = systemCode(error);
  if (code === null) throw error;
  return warn(
    check,
    `${url} cannot be read by this user: ${describeCode(code)}`,
    'run almanac doctor as the user of almanac labels',
  );
}

const magic = 'SQLite format 3\0';
/** Offset of `user_version` in a SQLite file, in bytes (file format, section 1.3). */
const versionAt = 60;

/**
 * Checks only the first bytes of the weather instrument's store, because the running instrument locks the file. The
 * instrument itself verifies the store at each start.
 */
export function checkWeatherStore(folder: string): Finding {
  const check = 'weather store';
  const path = join(folder, storeFile);
  try {
    const head = firstBytes(path, 100);
    // The file is empty if it was created but not written yet, or if its first pages are still in the write-ahead log.
    if (head.length === 0) return ok(check, `${path} is still empty`);
    if (head.length < 100 || head.toString('latin1', 0, magic.length) !== magic) {
      return fail(check, `${path} is not a SQLite file`, 'move it aside to begin a new series, or restore a copy');
    }
    const version = head.readUInt32BE(versionAt);
    if (version !== 0 && (version < oldestWeatherStoreVersion || version > weatherStoreVersion)) {
      const found = `${path} has version ${version}, but this program reads version ${weatherStoreVersion}`;
      return fail(check, found, 'run the version that wrote it, or move it aside');
    }
    return ok(check, `${path}, version ${version === 0 ? weatherStoreVersion : version}`);
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    if (code === 'ENOENT')
      return warn(check, `${path} does not exist yet`, 'the first start of almanac weather creates it');
    return warn(
      check,
      `${path} cannot be read by this user: ${describeCode(code)}`,
      'run almanac doctor as the user of almanac weather',
    );
  }
}

function firstBytes(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Reports the operator's list of denied labelers. The list is in the `state` directory if the store is in a database.
 * Returns no finding if the list is absent or empty.
 */
export async function checkDenied(storeUrl: string, state: string): Promise<Finding[]> {
  const check = 'denied labelers';
  let folder: string;
  try {
    folder = companionFolder(storeUrl, state);
  } catch (error) {
    // Ignore the error here, because the check of the store reports it.
    if (error instanceof OperatorError) return [];
    throw error;
  }
  const reading = await readDenyFile(folder);
  if (reading.kind === 'damaged') {
    const found = `the list cannot be used: ${reading.why}`;
    return [
      fail(
        check,
        found,
        'correct labels-denied.json next to the store, or restore a copy; until then, almanac labels cannot start',
      ),
    ];
  }
  if (reading.kind === 'absent' || reading.list.entries.length === 0) return [];
  const { entries } = reading.list;
  const domains = entries.filter(({ target }) => target.kind === 'domain').length;
  return [ok(check, `${entries.length - domains} by DID and ${domains} by domain (almanac labels deny lists them)`)];
}
