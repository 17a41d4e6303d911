import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { micros } from '../../time.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateChanges } from '../state/state.ts';

let db: Database.Database;
beforeEach(() => {
  db = new Database(':memory:');
  for (const { sql } of stateMigrations) db.exec(sql);
});
afterEach(() => db.close());

describe('putDefinitions above the total size limit', () => {
  const shares = {
    isProtected: (did: string) => did.startsWith('seed'),
    groupOf: (did: string) => did.replace(/\d+$/, ''),
  };

  /** Creates a store whose definitions may use up to `room` bytes in total. */
  function storeOf(room: number) {
    const state = stateChanges(db, room);
    return {
      put: (did: string, mark: string, bytes = 30) =>
        state.putDefinitions([{ did, seenAt: micros(1), content: mark.repeat(bytes) }], shares),
      kept: (...dids: string[]) =>
        dids.map((did) =>
          state
            .definitions(did)
            .map(({ content }) => content[0])
            .join(''),
        ),
    };
  }

  test('removes superseded revisions first', () => {
    const { put, kept } = storeOf(100);
    put('a', '1');
    put('b', '1');
    put('a', '2');
    expect(kept('a', 'b', 'c')).toEqual(['21', '1', '']);
    put('c', '1');
    expect(kept('a', 'b', 'c')).toEqual(['2', '1', '1']);
  });

  test('removes the newest revision of the labeler with the largest share if no superseded revision is left, even if another labeler was stored last', () => {
    const { put, kept } = storeOf(100);
    put('small', '1', 20);
    put('large', '1', 70);
    put('late', '1', 40);
    expect(kept('small', 'large', 'late')).toEqual(['1', '', '1']);
  });

  test('counts the labelers of one owner as one share, so that other labelers keep their definitions', () => {
    const { put, kept } = storeOf(1_000);
    put('honest', '1', 90);
    for (let i = 0; i < 500; i += 1) put(`crowd${i}`, 'x', 20);
    expect(kept('honest')).toEqual(['1']);
  });

  test('keeps the newest revisions of protected labelers while revisions of unprotected labelers can be removed, regardless of size', () => {
    const { put, kept } = storeOf(1_000);
    put('seed-a', '1', 400);
    put('seed-b', '1', 400);
    // Each of these labelers has a separate owner.
    for (let i = 0; i < 500; i += 1) put(`stranger${i}x`, 'x', 10);
    expect(kept('seed-a', 'seed-b')).toEqual(['1', '1']);
    // Protected labelers keep their definitions as long as definitions of unprotected labelers can be removed.
    put('seed-c', '1', 190);
    expect(kept('seed-a', 'seed-b', 'seed-c')).toEqual(['1', '1', '1']);
    put('seed-d', '1', 100);
    expect(kept('seed-a', 'seed-b', 'seed-c', 'seed-d').filter((marks) => marks === '')).toHaveLength(1);
  });

  test('does not count a rolled-back change', () => {
    const { put, kept } = storeOf(100);
    put('a', '1', 60);
    db.exec("CREATE TRIGGER full BEFORE INSERT ON definitions BEGIN SELECT RAISE(ROLLBACK, 'full'); END");
    expect(() => put('b', '1', 60)).toThrow('full');
    db.exec('DROP TRIGGER full');
    put('c', '1', 30);
    expect(kept('a', 'b', 'c')).toEqual(['1', '', '1']);
  });

  test('counts the stored definitions after the store is reopened', () => {
    storeOf(100).put('a', '1', 60);
    const { put, kept } = storeOf(100);
    put('b', '1', 50);
    expect(kept('a', 'b')).toEqual(['', '1']);
  });
});
