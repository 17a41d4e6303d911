import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problems } from '../../harness/conformance/suite.ts';
import { hashedDays } from '../../harness/copy/content.ts';
import { fillStore } from '../../harness/copy/traffic.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { startScript } from '../../harness/process/script.ts';
import { openStoreReader, openStoreWriter } from '../../src/store/open.ts';
import { micros } from '../../src/store/time.ts';

const rows = Number(process.env.ALMANAC_COPY_ROWS ?? 100_000);
const kills = Number(process.env.ALMANAC_COPY_KILLS ?? 6);
const days = 4;
const perSecond = 500;

describe.skipIf(!hasPostgres())('a copy of a store that an instrument is writing', () => {
  let server: PostgresServer;
  let folder = '';
  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'almanac-copy-'));
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['a directory to PostgreSQL', () => [`sqlite:${join(folder, 'from')}`, server.url('copied')]],
    ['PostgreSQL to a directory', () => [server.url('source'), `sqlite:${join(folder, 'to')}`]],
  ])('continues after each kill, and equals the source row for row (from %s)', async (_name, urls) => {
    const [from = '', to = ''] = urls();
    const next = await fillStore(from, rows, days, Date.now() * 1000);
    const appender = startScript('copy/appender.ts', [from, String(next), String(perSecond)]);
    await appender.line('open');
    let reached = 0;
    for (let kill = 0; kill < kills; kill++) {
      let copied = 0;
      const copier = startScript('copy/copier.ts', [from, to]);
      const begun = await copier.line(' rows');
      copied = Number(/(\d+) of/.exec(begun ?? '')?.[1] ?? 0);
      expect(copied).toBeGreaterThanOrEqual(reached);
      reached = copied;
      // Kill the copy at a random moment of its work.
      await new Promise((resolve) => setTimeout(resolve, 50 + ((kill * 977) % 900)));
      await copier.end('SIGKILL');
      await expect(openStoreReader(to)).rejects.toMatchObject({ code: 'unfinished_copy' });
    }
    const copier = startScript('copy/copier.ts', [from, to]);
    await copier.line('every row is copied');
    await appender.end('SIGTERM');
    const appended = Number((await appender.line('appended'))?.split(' ')[1]);
    expect(await copier.ended).toBe(0);
    const [before, after] = [await hashedDays(from), await hashedDays(to)];
    expect(after).toEqual(before);
    expect(after.reduce((sum, day) => sum + day.rows, 0)).toBe(rows + appended);
    const store = await openStoreWriter(to, { at: micros(Date.now() * 1000) });
    expect(await problems(store)).toEqual([]);
    await store.close();
  });
});
