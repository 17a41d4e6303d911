import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, ask, create, follow, startAccount } from '../../harness/accounts/account.ts';
import { observed } from '../../harness/accounts/observed-accounts.ts';
import { onceInFile } from '../../harness/process/once-in-file.ts';
import { createCursors, markOf, readSecrets } from '../../src/account/cursor/cursor.ts';
import { day, micros } from '../../src/store/time.ts';

/** The surface over a store with 20 rows, for tests that change neither its store nor its processes. */
const unchanged = onceInFile((later) => observed(20, [], later));

describe('a cursor', () => {
  it.each([
    ['altered', (cursor: string) => `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`],
    ['truncated', (cursor: string) => cursor.slice(0, -4)],
    ['never issued', () => 'bm90IGEgY3Vyc29y'],
    ['too long', (cursor: string) => cursor.repeat(8)],
    ['given twice', (cursor: string) => `${cursor}&cursor=${cursor}`],
  ])('is refused if it is %s', async (_what, change) => {
    const { url } = await unchanged();
    const { cursor } = await create(url);
    const { status, body } = await ask(`${url}/exports`, `cursor=${change(cursor)}`);
    expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'invalid_cursor' });
  });

  it('is refused by a service with another secret, and accepted by the service that issued it', async () => {
    const { folder, url } = await observed(12, ['--page-rows', '5']);
    const { cursor } = await create(url);
    const foreign = await startAccount(folder, ['--secret-file', join(folder, 'other')]).listening();
    expect((await ask(`${foreign.url}/exports`, { cursor })).body.error.code).toBe('invalid_cursor');
    expect((await follow(url, { cursor })).count).toBe(12);
  });

  it('cannot be combined with another parameter', async () => {
    const { url } = await unchanged();
    const { cursor } = await create(url);
    for (const path of ['exports', 'download']) {
      const { body } = await ask(`${url}/${path}`, { cursor, did: account });
      expect(body.error).toEqual({
        status: 409,
        code: 'unknown_parameter',
        message: 'A cursor contains its whole query: send it as the only parameter, or omit it for a new query.',
      });
    }
  });

  it('is refused with 410 if it has expired, or if the generation of the store has changed', async () => {
    const { folder, url } = await observed(4);
    const cursors = createCursors(readSecrets(join(folder, 'account-secret')));
    const made = cursors.open((await create(url)).cursor);
    if (made?.kind !== 'export') throw new Error('the cursor is not the cursor of an export');
    const changes = [{ expiresAt: Date.now() }, { generation: markOf({ generationId: 'another', revision: 0 }) }];
    for (const kind of ['export', 'snapshot'] as const) {
      for (const change of changes) {
        const cursor = cursors.seal({ ...made, kind, snapshot: { ...made.snapshot, ...change } });
        const { status, body } = await ask(`${url}/${kind === 'export' ? 'exports' : 'download'}`, { cursor });
        expect({ status, code: body.error.code }).toEqual({ status: 410, code: 'snapshot_expired' });
      }
    }
  });

  it('is refused with 410 if its day is no longer retained', async () => {
    const { folder, url } = await observed(4);
    const cursors = createCursors(readSecrets(join(folder, 'account-secret')));
    const made = cursors.open((await create(url)).cursor);
    if (made?.kind !== 'export') throw new Error('the cursor is not the cursor of an export');
    const start = micros(made.snapshot.start - 40 * day);
    const cursor = cursors.seal({ ...made, snapshot: { ...made.snapshot, start } });
    const { status, body } = await ask(`${url}/exports`, { cursor });
    expect({ status, code: body.error.code }).toEqual({ status: 410, code: 'snapshot_expired' });
  });
});
