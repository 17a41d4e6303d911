import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { micros } from '../../time.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateChanges } from '../state/state.ts';
import { migrate } from './connection.ts';
import { beginWriting } from './files.ts';

/** SQL that makes a commit fail if the transaction inserted definitions with the content `fail`. */
const failingCommit = `
  CREATE TABLE parent(id INTEGER PRIMARY KEY);
  CREATE TABLE child(id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
  CREATE TRIGGER failing AFTER INSERT ON definitions WHEN NEW.content = 'fail'
    BEGIN INSERT INTO child VALUES (1); END`;

test('definitions whose commit failed do not count towards the total size limit', () => {
  const db = new Database(':memory:');
  migrate(db, stateMigrations, '2026-07-01T00:00:00Z');
  db.exec(failingCommit);
  const state = stateChanges(db, 8);
  const options = { generationId: () => 'generation', at: micros(0), token: 'token' };
  const fence = beginWriting(db, { ...options, rolledBack: state.forgetSizes });
  const put = (did: string, content: string) =>
    fence.run(() => state.putDefinitions.immediate([{ did, seenAt: micros(1), content }]));
  put('a', '1');
  put('a', '22');
  expect(() => put('b', 'fail')).toThrow('FOREIGN KEY');
  put('a', '333');
  expect(state.definitions('a').map(({ content }) => content)).toEqual(['333', '22', '1']);
  expect(state.definitions('b')).toEqual([]);
  db.close();
});
