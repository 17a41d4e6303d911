import { describe, expect, it } from 'vitest';
import {
  account,
  ask,
  create,
  fill,
  follow,
  labelers,
  startAccount,
  writerInTest,
} from '../../harness/accounts/account.ts';
import { accountOpenApi } from '../../harness/artifacts/openapi.ts';
import { digestChain } from '../../harness/model/account/account-model.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { rosterRow } from '../../harness/store/roster-row.ts';
import type { ExportManifest, ExportPage } from '../../src/contract/account.ts';
import { microsFromMillis } from '../../src/contract/timestamp.ts';
import { micros } from '../../src/store/time.ts';
import { formatsOf } from '../../src/web/language.ts';

/** Tests the account view while the operator removes a labeler's rows from the store. */

async function observed(rows: number) {
  const folder = folderInTest();
  const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
  await fill(store, rows, { at: (Date.now() - 30_000) * 1000 });
  const { url } = await startAccount(folder).listening();
  const purge = async (source: string) => {
    const at = micros(Date.now() * 1000);
    await store.requestPurge({ source, at });
    while (await store.purge(at));
  };
  return { url, store, purge };
}

async function pageOf(url: string): Promise<string> {
  return (await fetch(`${url}/account?did=${account}`)).text();
}

function downloadOf(html: string): string {
  return /\/download\?cursor=([A-Za-z0-9_-]+)/.exec(html)?.[1] ?? '';
}

const today = () => new Date().toISOString().slice(0, 10);
/** Returns the current day in the format of English pages. */
const shownToday = () => formatsOf('en').day(microsFromMillis(Date.now()));

describe('the account surface after a purge', () => {
  it('responds with 410 to cursors of exports and download links from before the purge', async () => {
    const { url, purge } = await observed(1_234);
    const created = await create(url, { days: '7' });
    const page = await fetch(`${url}/exports?cursor=${created.cursor}`);
    const first = (await page.json()) as ExportPage;
    const snapshot = downloadOf(await pageOf(url));
    expect(first.terminal).toBe(false);
    expect((await fetch(`${url}/download?cursor=${snapshot}`)).status).toBe(200);
    await purge(labelers[0]);
    const asked = [
      ['exports', created.cursor],
      ['exports', first.next_cursor ?? ''],
      ['download', snapshot],
    ];
    for (const [path, cursor = ''] of asked) {
      const { status, body } = await ask(`${url}/${path}`, { cursor });
      expect({ status, code: body.error.code }).toEqual({ status: 410, code: 'snapshot_expired' });
    }
  });

  it('omits the purged rows from new exports, which have a valid digest and state the day of the removal', async () => {
    const { url, purge } = await observed(60);
    expect((await create(url, { days: '7' })).manifest.caveats).toBeUndefined();
    expect(await pageOf(url)).not.toContain('removed at the operator');
    const sentence = `Rows of 1 labeler were removed at the operator's request, the last on ${today()}.`;
    await purge(labelers[0]);
    const created = await create(url, { days: '7' });
    expect(accountOpenApi.faults('get', '/exports', 200, created)).toEqual([]);
    const { rows, digest } = await follow(url, created);
    expect(rows).toHaveLength(30);
    expect(rows.every(({ labeler_did: did }) => did === labelers[1])).toBe(true);
    const manifest: ExportManifest = created.manifest;
    expect(manifest.caveats).toEqual([sentence]);
    expect(manifest.count_bound).toBe(30);
    expect(digest).toBe(digestChain(manifest, rows));
    // Request another account, because the page caches information about labelers for several seconds.
    await expect
      .poll(() => pageOf(url))
      .toContain(`Rows of 1 labeler were removed at the operator’s request, the last on ${shownToday()}.`);
  });

  it('shows the purged time as a gap of the labeler', async () => {
    const { url, store, purge } = await observed(60);
    const { startedAt } = await store.epoch();
    await store.putRoster([rosterRow(labelers[0], { lastAnswered: micros(Date.now() * 1000) })]);
    await purge(labelers[0]);
    const { manifest } = await create(url, { days: '7', labeler: labelers[0] });
    expect(manifest.coverage.labelers).toMatchObject([
      {
        labeler_did: labelers[0],
        gaps: [
          {
            reason: 'maintenance',
            start: expect.stringContaining(new Date(startedAt / 1000).toISOString().slice(0, 19)),
          },
        ],
      },
    ]);
  });
});
