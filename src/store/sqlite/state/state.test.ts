import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { micros } from '../../time.ts';
import { migrate } from '../base/connection.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateChanges } from './state.ts';

test('queries for the coverage and the gaps of one labeler do not read the gaps of other labelers', () => {
  const db = new Database(':memory:');
  migrate(db, stateMigrations, '2026-07-01T00:00:00Z');
  const state = stateChanges(db);
  const gap = (source: string | null, start: number) =>
    state.recordGap({ source, start: micros(start), end: micros(start + 5), reason: 'source_unavailable' });
  for (let i = 0; i < 50; i++) for (const one of ['a', 'b', 'c']) gap(`did:web:${one}.example`, i * 10);
  gap(null, 200);
  const statement: object = Object.getPrototypeOf(db.prepare('SELECT 1')) as object;
  const all = vi.spyOn(statement as { all: () => unknown[] }, 'all');
  const interval = { start: micros(100), end: micros(300) };
  const [coverage] = state.coverage(interval, ['did:web:a.example']);
  expect(coverage?.gaps).toHaveLength(21);
  expect(state.gaps(interval, 'did:web:a.example')).toHaveLength(21);
  const read = all.mock.results.map(({ value }) => (value as unknown[]).length);
  all.mockRestore();
  expect(read).toEqual([1, 20, 1, 20]);
  db.close();
});

test('definitions of a dropped labeler no longer count towards the total size limit', () => {
  const db = new Database(':memory:');
  migrate(db, stateMigrations, '2026-07-01T00:00:00Z');
  const state = stateChanges(db, 8);
  const put = (did: string, content: string) => state.putDefinitions([{ did, seenAt: micros(1), content }]);
  put('did:web:a.example', '1234');
  put('did:web:b.example', '1234');
  state.dropRoster(['did:web:b.example']);
  put('did:web:c.example', '5678');
  const contents = ['a', 'b', 'c'].map((one) => state.definitions(`did:web:${one}.example`).map((row) => row.content));
  expect(contents).toEqual([['1234'], [], ['5678']]);
  db.close();
});
