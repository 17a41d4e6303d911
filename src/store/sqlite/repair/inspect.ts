import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreInspection } from '../../common/inspection.ts';
import { StoreError } from '../../errors.ts';
import { dayName } from '../../time.ts';
import { openReadonly } from '../base/connection.ts';
import { dayPath, listDays, type StorePaths, storePaths } from '../base/files.ts';
import { writerLockHeld } from '../base/lock.ts';
import { assertKnown, schemaVersion } from '../base/migrate.ts';
import { storeError } from '../base/store-error.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { assertOneGeneration, assertSound, assertStateBegun, assertStateFile } from '../state/lost-state.ts';
import { stateQueries } from '../state/state.ts';
import { hasChecksums } from '../upkeep/replace-day.ts';

/**
 * Inspects the store in a directory, whether or not a writer is running, without changing the directory. If no
 * process has the store open, the inspection reads a copy, because SQLite would otherwise create files of the
 * inspecting user next to the database. Throws a `StoreError`: `not_a_store`, `schema_newer`, `damaged`, `busy`, or
 * `io_failed` if the directory may not be read.
 */
export function inspectStore(folder: string): StoreInspection {
  const paths = storePaths(folder);
  assertStateFile(paths);
  // Use `statSync`, because `existsSync` would report an inaccessible file as missing.
  if (!statSync(paths.state, { throwIfNoEntry: false })) {
    throw new StoreError('not_a_store', `${folder} contains no store`);
  }
  const writing = writerLockHeld(paths.lock);
  try {
    return writing ? inspect(paths, paths.state, writing) : inspectCopy(paths);
  } catch (error) {
    throw storeError(error, folder);
  }
}

/** Inspects a copy of the state file and its log. The index of the log is not copied, because SQLite rebuilds it. */
function inspectCopy(paths: StorePaths): StoreInspection {
  const copies = mkdtempSync(join(tmpdir(), 'almanac-inspect-'));
  try {
    const copy = join(copies, 'state.sqlite');
    copyFileSync(paths.state, copy);
    if (existsSync(`${paths.state}-wal`)) copyFileSync(`${paths.state}-wal`, `${copy}-wal`);
    return inspect(paths, copy, false);
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

function inspect(paths: StorePaths, state: string, writing: boolean): StoreInspection {
  const db = openReadonly(state, 1024 * 1024);
  try {
    assertKnown(db, stateMigrations);
    const schema = schemaVersion(db);
    if (schema === 0) assertStateBegun(paths, false);
    if (schema === 0) throw new StoreError('not_a_store', `the store in ${paths.folder} was never initialized`);
    assertSound(db);
    const queries = stateQueries(db);
    assertStateBegun(paths, queries.hasEpoch());
    // Open only sealed days: SQLite would create files next to an open day.
    assertOneGeneration(paths, queries.generation(), ['sealed']);
    const { days } = queries.catalog();
    const files = new Set(listDays(paths).map(({ day }) => day));
    return {
      schema,
      epoch: queries.epoch(),
      heartbeat: queries.heartbeat(),
      writing,
      sealedDays: days.filter(({ sealed }) => sealed === 1).length,
      openDays: days.filter(({ sealed }) => sealed !== 1).length,
      missingDays: days.filter(({ day }) => !files.has(day)).map(({ day }) => dayName(day)),
      pendingPurges: queries.purges().filter(({ completedAt }) => completedAt === null),
      unverifiedDays: days
        .filter(({ day, sealed }) => sealed === 1 && files.has(day) && !hasChecksums(dayPath(paths, day, 'sealed')))
        .map(({ day }) => dayName(day)),
      bytes: sizeOf(paths.folder) + sizeOf(paths.days),
    };
  } finally {
    db.close();
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name }) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}
