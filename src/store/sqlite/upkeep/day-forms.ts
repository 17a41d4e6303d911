import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import { dayName } from '../../time.ts';
import { type Sqlite, storeError, syncFolder } from '../base/connection.ts';
import { dayPath, type OnFile, removeDatabase, type StorePaths } from '../base/files.ts';
import { rowColumns } from '../base/row.ts';

/** Paths of the two forms of a day. Both exist from the end of a seal until the open form is removed. */
interface DayForms {
  readonly sealed: string;
  readonly open: string;
}

/** Tables of names, and the columns of an open day that contain their ids. */
const usesOfNames = {
  source: ['source FROM open.observation', 'source FROM open.refusal', 'source FROM open.counter_hour'],
  val: ['val FROM open.observation'],
  collection: ['collection FROM open.observation'],
} as const;

/**
 * Returns true if both forms of a day have the same rows, and the same numeric ids for their names. The sealed form may
 * lack names that the open form does not use: a seal drops the names whose rows were removed, and an open day keeps
 * them.
 */
export function haveSameRows({ sealed, open }: DayForms): boolean {
  const db = new Database(sealed, { readonly: true, fileMustExist: true });
  try {
    db.prepare('ATTACH ? AS open').run(open);
    return Object.entries(usesOfNames).every(([table, uses]) => haveSameNames(db, table, uses)) && haveEqualRows(db);
  } catch (error) {
    throw storeError(error, sealed);
  } finally {
    db.close();
  }
}

/** Throws `damaged` if the sealed form of a day that is listed as open has other rows than the open form. */
export function assertSameRows(day: number, forms: DayForms): void {
  if (haveSameRows(forms)) return;
  throw new StoreError(
    'damaged',
    `${dayName(day)} is listed as open in the state file, but a sealed file with different rows exists`,
  );
}

/**
 * Removes the sealed form of a day that is listed as open, so that rows can be removed from the open form. Such a file
 * remains if the seal could not be recorded. It would still contain the removed rows. Throws `damaged`, and removes
 * nothing, if the forms have different rows.
 */
export function discardUnlistedSeal(paths: StorePaths, day: number, onFile: OnFile): void {
  const [open, sealed] = [dayPath(paths, day, 'open'), dayPath(paths, day, 'sealed')];
  if (!existsSync(sealed)) return;
  // This writer wrote the file: a start lists every sealed file or fails, and no other process writes. Its content is
  // complete elsewhere: the open form has the same rows, and readers use only that listed form.
  assertSameRows(day, { sealed, open });
  removeDatabase(sealed);
  // Without this, a power failure could undo the removal but keep the later changes to the open form.
  syncFolder(paths.days);
  const reason = 'the seal was not recorded, and rows are removed from the open file';
  onFile({ name: basename(sealed), day: dayName(day), action: 'removed', reason });
}

function haveSameNames(db: Sqlite, table: string, uses: readonly string[]): boolean {
  const shared = `SELECT count(*) FROM main.${table} a JOIN open.${table} b ON a.id IS b.id AND a.name IS b.name`;
  if (numberOf(db, shared) !== numberOf(db, `SELECT count(*) FROM main.${table}`)) return false;
  const onlyOpen = `FROM open.${table} WHERE id NOT IN (SELECT id FROM main.${table})`;
  // Usually no name is missing. Check this first, because the next query reads all rows.
  if (numberOf(db, `SELECT count(*) ${onlyOpen}`) === 0) return true;
  const used = uses.map((use) => `SELECT ${use}`).join(' UNION ALL ');
  return numberOf(db, `SELECT count(*) ${onlyOpen} AND id IN (${used})`) === 0;
}

function haveEqualRows(db: Sqlite): boolean {
  const equal = rowColumns
    .split(', ')
    .map((name) => `a.${name} IS b.${name}`)
    .join(' AND ');
  const both = numberOf(db, `SELECT count(*) FROM main.observation a JOIN open.observation b ON ${equal}`);
  return ['main', 'open'].every((form) => numberOf(db, `SELECT count(*) FROM ${form}.observation`) === both);
}

function numberOf(db: Sqlite, sql: string): number {
  return db.prepare<[], number>(sql).pluck().get() ?? 0;
}
