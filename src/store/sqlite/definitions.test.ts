import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { micros } from '../time.ts';
import { stateMigrations } from './state-schema.ts';
import { stateChanges } from './state-write.ts';

test('definitions are bounded in all: superseded ones go first, then the oldest', () => {
  const db = new Database(':memory:');
  for (const { sql } of stateMigrations) db.exec(sql);
  const state = stateChanges(db, 100);
  const put = (did: string, mark: string) => state.putDefinitions({ did, seenAt: micros(1), content: mark.repeat(30) });
  const kept = () =>
    ['a', 'b', 'c', 'd'].map((did) =>
      state
        .definitions(did)
        .map(({ content }) => content[0])
        .join(''),
    );
  put('a', '1');
  put('b', '1');
  put('a', '2');
  expect(kept()).toEqual(['21', '1', '', '']);
  put('c', '1');
  expect(kept()).toEqual(['2', '1', '1', '']);
  put('d', '1');
  // All of them count: the one that was not renewed for longest goes.
  expect(kept()).toEqual(['2', '', '1', '1']);
  db.close();
});
