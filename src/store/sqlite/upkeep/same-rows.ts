import Database from 'better-sqlite3';
import { storeError } from '../base/store-error.ts';
import { rowColumns } from '../schema/day-schema.ts';

/** Returns true if two files of a day have the same rows, and the same numeric ids for all texts. */
export function sameRows(one: string, other: string): boolean {
  const db = new Database(one, { readonly: true, fileMustExist: true });
  try {
    db.prepare('ATTACH ? AS other').run(other);
    const equal = (columns: readonly string[]) => columns.map((name) => `a.${name} IS b.${name}`).join(' AND ');
    const columns = rowColumns.split(', ');
    const agree = (table: string, all: readonly string[]): boolean => {
      const shared = `SELECT count(*) FROM main.${table} a JOIN other.${table} b ON ${equal(all)}`;
      const counts = [shared, `SELECT count(*) FROM main.${table}`, `SELECT count(*) FROM other.${table}`];
      const [both, ...each] = counts.map((sql) => db.prepare<[], number>(sql).pluck().get());
      return each.every((count) => count === both);
    };
    return (
      ['source', 'val', 'collection'].every((table) => agree(table, ['id', 'name'])) && agree('observation', columns)
    );
  } catch (error) {
    throw storeError(error, one);
  } finally {
    db.close();
  }
}
