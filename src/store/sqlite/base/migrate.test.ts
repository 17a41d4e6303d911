import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { assertPragma, setPragma } from './connection.ts';
import { type Migration, migrate, schemaVersion } from './migrate.ts';

const first: Migration = { version: 1, name: 'one', sql: 'CREATE TABLE one(x)' };
const second: Migration = { version: 2, name: 'two', sql: 'ALTER TABLE one ADD COLUMN y' };
const broken: Migration = { version: 2, name: 'two', sql: 'CREATE TABLE half(x); CREATE TABLE one(x)' };

describe('migrate', () => {
  it('upgrades an old file to the newest version and records the time of each step', () => {
    const db = new Database(':memory:');
    migrate(db, [first], 'Monday');
    migrate(db, [first, second], 'Tuesday');
    migrate(db, [first, second], 'Wednesday');
    expect(schemaVersion(db)).toBe(2);
    expect(db.prepare('SELECT * FROM migration').all()).toEqual([
      { version: 1, name: 'one', applied_at: 'Monday' },
      { version: 2, name: 'two', applied_at: 'Tuesday' },
    ]);
  });

  it('leaves the file at the previous version if a step fails', () => {
    const db = new Database(':memory:');
    migrate(db, [first], 'Monday');
    expect(() => migrate(db, [first, broken], 'Tuesday')).toThrow();
    expect(schemaVersion(db)).toBe(1);
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
  });

  it('refuses a file that a newer version of the program wrote, and a file of a different application', () => {
    const newer = new Database(':memory:');
    migrate(newer, [first, second], 'Monday');
    expect(() => migrate(newer, [first], 'Tuesday')).toThrowError(expect.objectContaining({ code: 'schema_newer' }));
    const theirs = new Database(':memory:');
    theirs.pragma('user_version = 1');
    expect(() => migrate(theirs, [first], 'Monday')).toThrowError(expect.objectContaining({ code: 'not_a_store' }));
  });
});

describe('setPragma and assertPragma', () => {
  it('refuse a value that SQLite cannot apply, such as a write-ahead log in memory, and accept a value that is set', () => {
    const db = new Database(':memory:');
    expect(() => setPragma(db, 'journal_mode', 'wal')).toThrowError(
      expect.objectContaining({ code: 'pragma_refused' }),
    );
    expect(() => assertPragma(db, 'page_size', 4096)).not.toThrow();
  });
});
