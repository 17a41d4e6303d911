import type Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import type { Intern, NameTable } from '../base/row.ts';
import type { RememberedNames } from '../schema/remembered-names.ts';

type Statement = Database.Statement<[string], number>;

/**
 * Returns a function that returns the numeric id of a text in a day's file, and adds the text if it is new, in the
 * caller's transaction. The caller must clear the cache `names` if the transaction fails.
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
    if (id === undefined) throw new StoreError('damaged', `${db.name}: the table ${table} assigned no id`);
    names.set(table, name, id);
    return id;
  };
}
