import { StoreError } from '../../errors.ts';
import type { DayReport } from '../../port.ts';
import { openWritable, type Sqlite } from '../base/connection.ts';
import { type DayForm, dayPath, type OnFile, silent, storePaths } from '../base/files.ts';
import { takeWriterLock } from '../base/lock.ts';
import { type Faults, migrate, schemaVersion } from '../base/migrate.ts';
import { storeError } from '../base/store-error.ts';
import { DayReader } from '../day/day-reader.ts';
import { recountOpenDay } from '../hot/hot-counts.ts';
import { recountLabelers } from '../labeler/counter-changes.ts';
import { unreadableDay, verifyDay } from '../read/verify.ts';
import { countsSql } from '../schema/day-schema.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { assertSound, assertStateFile } from '../state/lost-state.ts';
import { stateChanges } from '../state/state.ts';
import { recoverDays } from '../upkeep/recover.ts';
import { replaceDay } from '../upkeep/replace-day.ts';

/** Result of repairing a day. */
export interface RepairReport {
  /** Report of the day after the repair. It lists the problems that the repair could not correct. */
  readonly day: DayReport;
  /** Problems that were repaired. */
  readonly repaired: readonly string[];
}

/** Options for repairing a store. */
export interface RepairOptions {
  readonly folder: string;
  readonly onFile?: OnFile;
  readonly faults?: Faults;
}

/** Parts of a sealed day that cannot be derived from its rows. */
const underived: readonly string[] = ['observation', 'source', 'val', 'collection', 'refusal', 'position', 'meta'];

/**
 * Rebuilds the list of days in the state file and, for each day that has problems or lacks checksums, the data that is
 * derived from rows: counters, groups, filters and checksums. Leaves a day unchanged if its rows or other data that
 * cannot be derived are damaged. Never changes a row. Yields a report of each day, oldest first. Throws `second_writer`
 * while a writer is running.
 */
export async function* repairStore({ folder, onFile = silent, faults }: RepairOptions): AsyncGenerator<RepairReport> {
  const paths = storePaths(folder);
  assertStateFile(paths);
  const lock = takeWriterLock(paths.lock);
  let db: Sqlite | null = null;
  try {
    db = openWritable(paths.state, 1024 * 1024);
    assertSound(db);
    if (schemaVersion(db) === 0) throw new StoreError('not_a_store', `the store in ${folder} was never initialized`);
    migrate(db, stateMigrations, new Date().toISOString(), faults);
    const state = stateChanges(db);
    recoverDays(paths, state, onFile);
    const { generationId } = state.epoch();
    for (const { day, sealed } of state.catalog().days) {
      const form: DayForm = sealed === 1 ? 'sealed' : 'open';
      const path = dayPath(paths, day, form);
      const look = () => reportOf(path, day, form, generationId);
      const before = look();
      if (before.report.problems.length === 0 && !before.report.unverified) {
        yield { day: before.report, repaired: [] };
        continue;
      }
      if (before.isDerivable) {
        if (form === 'open') recount(path);
        else await replaceDay({ paths, faults, onFile, signal: new AbortController().signal }, day, 'repair');
      }
      const { report } = look();
      yield { day: report, repaired: before.report.problems.filter((problem) => !report.problems.includes(problem)) };
    }
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    db?.close();
    lock.release();
  }
}

function reportOf(path: string, day: number, form: DayForm, generation: string) {
  let reader: DayReader | null = null;
  try {
    reader = new DayReader(path, day, form);
    const { report, isComplete } = verifyDay(reader, generation);
    if (!isComplete || reader.fileProblems().length > 0) return { report, isDerivable: false };
    const altered = [...reader.checksumProblems()].some(({ part }) => underived.includes(part));
    return { report, isDerivable: !altered };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { report: unreadableDay(day, form === 'sealed', error), isDerivable: false };
  } finally {
    reader?.close();
  }
}

/** Recomputes the counters of an open day in one transaction, including the stored counts of hot accounts. */
function recount(path: string): void {
  const db = openWritable(path, 32 * 1024 * 1024);
  try {
    db.transaction(() => {
      db.exec(`
        DELETE FROM counter_minute;
        INSERT INTO counter_minute(minute, source, applied, removed)
          SELECT id / 60000000, source, ${countsSql} FROM observation GROUP BY 1, 2;
        DELETE FROM counter_hour;
        INSERT INTO counter_hour(hour, source, applied, removed)
          SELECT minute / 60, source, sum(applied), sum(removed) FROM counter_minute GROUP BY 1, 2;`);
      recountOpenDay(db);
      recountLabelers(db);
    }).immediate();
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}
