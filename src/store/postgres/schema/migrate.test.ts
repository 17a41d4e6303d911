import { expect, it } from 'vitest';
import { parsePostgresUrl } from '../base/place.ts';
import type { Queries, Session } from '../base/session.ts';
import { storeVersion } from './migrate.ts';
import { migrations } from './migrations.ts';

/** Returns a session whose statements run in a transaction with this search path. */
function sessionWith(path: string): Session {
  const queries: Queries = {
    rows: <Row extends object>(sql: string) => {
      const row = sql.includes('search_path') ? { same: path === 'labels' } : { version: migrations.length };
      return Promise.resolve([row as Row]);
    },
    run: () => Promise.resolve(0),
    copy: () => Promise.resolve(),
  };
  const place = parsePostgresUrl('postgres://almanac@db.example/postgres?schema=labels');
  const read = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => work(queries);
  return { place, name: 'db.example', read } as unknown as Session;
}

it('the version of a store is read only if all statements of a transaction reach the same server', async () => {
  expect(await storeVersion(sessionWith('labels'))).toBe(migrations.length);
  await expect(storeVersion(sessionWith('"$user", public'))).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(
      /^db\.example: a pooler sends the statements of one transaction to different servers/,
    ),
  });
});
