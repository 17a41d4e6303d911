import type Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import type { Intern, NameTable } from '../base/row.ts';
import type { RememberedNames } from '../schema/remembered-names.ts';

type Statement = Database.Statement<[string], number>;

/**
 * Returns the function that gives a text its number in a day's file, within the caller's transaction. The caller clears
 * the cache `names` if the transaction fails.
 */
export function internerOf(db: Sqlite, names: RememberedNames): Intern {
  const statements = new Map<NameTable, { find: Statement; insert: Statement }>();
  for (const table of ['source', 'val', 'collection'] as const) {
    statements.set(table, {
      find: db.prepare<[string], number>(`SELECT id FROM ${table} WHERE name = ?`).pluck(),
      insert: db.prepare<[string], number>(`INSERT INTO ${table}(name) VALUES (?) RETURNING id`).pluck(),
    });
  }
  return (table, name) => {
    const known = names.get(table, name);
    if (known !== undefined) return known;
    const { find, insert } = statements.get(table) ?? {};
    const id = find?.get(name) ?? insert?.get(name);
    if (id === undefined) throw new StoreError('damaged', `${db.name}: the table ${table} assigned no number`);
    names.set(table, name, id);
    return id;
  };
}
