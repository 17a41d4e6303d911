import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  account,
  ask,
  create,
  fill,
  follow,
  labelers,
  labelNo,
  page,
  startAccount,
  writerInTest,
} from '../../harness/accounts/account.ts';
import { observed } from '../../harness/accounts/observed-accounts.ts';
import { accountOpenApi } from '../../harness/artifacts/openapi.ts';
import { digestChain } from '../../harness/model/account/account-model.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { onceInFile } from '../../harness/process/once-in-file.ts';
import { rosterRow } from '../../harness/store/roster-row.ts';
import { createCursors, readSecrets } from '../../src/account/cursor/cursor.ts';
import type { AccountDownload, ExportCreated, ExportManifest } from '../../src/contract/account.ts';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { micros } from '../../src/store/time.ts';

const dayMicros = 86_400_000_000;

/** Creates one surface per list of arguments, for tests that change neither the store nor the processes. */
const unchanged = onceInFile((later, count: number, ...args: readonly string[]) => observed(count, args, later));

/** Returns the expected rows of the first `count` labels that match `wanted`, without the acceptance time. */
function expectedRows(count: number, wanted: (n: number) => boolean = () => true) {
  return Array.from({ length: count }, (_, n) => n)
    .filter(wanted)
    .map((n) => {
      const { src, uri, cid, val, neg, cts, exp } = labelNo(n);
      return {
        labeler_did: src,
        uri,
        ...(cid === undefined ? {} : { cid }),
        value: val,
        action: neg ? 'removal_observed' : 'application_observed',
        source_timestamp: cts,
        ...(exp === undefined ? {} : { expires_at: exp }),
        signature: 'unverified',
      };
    });
}

function withoutClock<T extends { readonly observed_at: string }>(rows: readonly T[]) {
  return rows.map(({ observed_at: _, ...rest }) => rest);
}

describe('an export', () => {
  it('contains every observation in order of acceptance, matches the OpenAPI document, and has a valid digest', async () => {
    const { url } = await observed(1_234);
    const created = await create(url, { days: '7' });
    expect(accountOpenApi.faults('get', '/exports', 200, created)).toEqual([]);
    expect(created.manifest).toMatchObject({
      schema: 'atproto.account.export/v1',
      account,
      clipped: true,
      filters: {},
      count_bound: 1_234,
      current_label_state: 'unknown',
      page_rows: 500,
    });
    const { rows, pages, count, digest } = await follow(url, created);
    expect(pages.map((one) => one.rows.length)).toEqual([500, 500, 234]);
    for (const one of pages) {
      expect(accountOpenApi.faults('get', '/exports', 200, one)).toEqual([]);
      expect(one.manifest).toEqual(created.manifest);
    }
    expect(withoutClock(rows)).toEqual(expectedRows(1_234));
    const stamps = rows.map(({ observed_at }) => parseTimestamp(observed_at) ?? 0);
    expect(stamps).toEqual([...new Set(stamps)].sort((a, b) => a - b));
    expect(count).toBe(1_234);
    expect(digest).toBe(digestChain(created.manifest, rows));
  });

  it('reports the time after the last accepted page as a gap, as do the download and the account page', async () => {
    const folder = folderInTest();
    const [began, last] = [Date.now() - 8 * 3_600_000, Date.now() - 6 * 3_600_000];
    const store = writerInTest(folder, began * 1000);
    await fill(store, 4, { at: last * 1000 });
    await store.putRoster([
      rosterRow(labelers[0], {
        endpoint: 'https://l.example',
        stateSince: micros(began * 1000),
        lastAnswered: micros(last * 1000),
      }),
    ]);
    const { url } = await startAccount(folder).listening();
    const start = new Date(Date.now() - 5 * 3_600_000).toISOString();
    const end = new Date().toISOString();
    const { manifest } = await create(url, { start, end });
    const { interval } = manifest;
    expect(manifest.coverage).toMatchObject({
      status: 'unknown',
      gaps: [{ start: interval.start, end: interval.end, reason: 'source_unavailable' }],
      labelers: [{ labeler_did: labelers[0], state: 'established', gaps: [] }],
    });
    const html = await (await fetch(`${url}/account?${new URLSearchParams({ did: account, start, end })}`)).text();
    expect(html).toContain('No labeler has sent anything since');
    const link = /href="[^"]*\/download\?cursor=([^"]+)"/.exec(html)?.[1] ?? '';
    const download = await ask<AccountDownload>(`${url}/download`, { cursor: link });
    expect([download.status, download.body.manifest.coverage.status]).toEqual([200, 'unknown']);
  });

  it('has an invalid digest if one byte is changed', async () => {
    const { url } = await unchanged(20);
    const created = await create(url);
    const { rows, digest } = await follow(url, created);
    const text = JSON.stringify(rows);
    for (const at of [text.indexOf('spam'), text.indexOf('T12:00'), text.lastIndexOf('unverified')]) {
      const changed = JSON.parse(`${text.slice(0, at)}~${text.slice(at + 1)}`) as typeof rows;
      expect(digestChain(created.manifest, changed)).not.toBe(digest);
    }
    expect(digestChain({ ...created.manifest, clipped: false }, rows)).not.toBe(digest);
    expect(digestChain(created.manifest, rows.slice(1))).not.toBe(digest);
  });

  it('consists of one empty terminal page for an account without observations', async () => {
    const { url } = await unchanged(20);
    const created = await create(url, { did: 'did:web:nobody.example.com' });
    expect(created.manifest.count_bound).toBe(0);
    const { rows, pages, count, digest } = await follow(url, created);
    expect({ rows, pages: pages.length, count }).toEqual({ rows: [], pages: 1, count: 0 });
    expect(digest).toBe(digestChain(created.manifest, []));
  });

  it.each([
    [{ labeler: labelers[1] }, (n: number) => n % 2 === 1],
    [{ value: 'spam' }, (n: number) => n % 5 === 0],
    [{ action: 'removal_observed' }, (n: number) => n % 4 === 0],
    [{ target_kind: 'account' }, (n: number) => n % 3 === 0],
    [{ target_kind: 'post', action: 'application_observed' }, (n: number) => n % 3 === 1 && n % 4 !== 0],
    [{ target_kind: 'record', labeler: labelers[0], value: 'value-2' }, (n: number) => n === 2],
  ] as const)('contains exactly the rows that match the filters %o', async (filters, wanted) => {
    const { url } = await unchanged(600, '--page-rows', '50');
    const created = await create(url, filters);
    expect(created.manifest.filters).toEqual(filters);
    const { rows, count, digest } = await follow(url, created);
    expect(withoutClock(rows)).toEqual(expectedRows(600, wanted));
    expect({ count, digest }).toEqual({ count: rows.length, digest: digestChain(created.manifest, rows) });
  });

  it('can contain short pages before the last page if few rows match the filters', async () => {
    const { url } = await observed(1_000, ['--page-rows', '20']);
    const { pages, rows } = await follow(url, await create(url, { value: 'value-999' }));
    expect(rows).toHaveLength(1);
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.slice(0, -1).every((one) => !one.terminal)).toBe(true);
  });

  it('never includes rows that are accepted after the export was created', async () => {
    const { url, store } = await observed(30, ['--page-rows', '10']);
    const created = await create(url);
    const first = await page(url, created.cursor);
    // These rows have times before the end of the interval, but are accepted after the frontier. Only the frontier
    // excludes them.
    await fill(store, 40, { from: 100, at: (Date.now() - 20_000) * 1000 });
    const rest = first.next_cursor === null ? null : await follow(url, { cursor: first.next_cursor });
    const rows = [...first.rows, ...(rest?.rows ?? [])];
    expect(withoutClock(rows)).toEqual(expectedRows(30));
    expect(rest?.digest).toBe(digestChain(created.manifest, rows));
    expect((await follow(url, await create(url))).count).toBe(70);
  });

  it('returns the same bytes to two concurrent clients, and to a client that requests a page twice', async () => {
    const { url } = await observed(900, ['--page-rows', '100', '--queue-ms', '20000']);
    const created = await create(url);
    const bytes = async (): Promise<string[]> => {
      const texts: string[] = [];
      for (let cursor: string | null = created.cursor; cursor !== null; ) {
        const answer: Answer<{ next_cursor: string | null }> = await ask(`${url}/exports`, { cursor });
        texts.push(answer.text);
        cursor = answer.body.next_cursor;
      }
      return texts;
    };
    const [one, other] = await Promise.all([bytes(), bytes()]);
    expect(one).toHaveLength(9);
    expect(other).toEqual(one);
    expect(await bytes()).toEqual(one);
  });

  it('continues with the same content after a restart with a different page size', async () => {
    const { folder, program, url } = await observed(300, ['--page-rows', '40']);
    const created = await create(url);
    const whole = await follow(url, created);
    const [first] = whole.pages;
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);

    const again = await startAccount(folder, ['--page-rows', '7']).listening();
    const rest = await follow(again.url, { cursor: first?.next_cursor ?? '' });
    expect([...(first?.rows ?? []), ...rest.rows]).toEqual(whole.rows);
    expect({ count: rest.count, digest: rest.digest }).toEqual({ count: whole.count, digest: whole.digest });
    const inSevens = await follow(again.url, created);
    expect(inSevens.pages.length).toBeGreaterThan(whole.pages.length * 5);
    expect({ rows: inSevens.rows, digest: inSevens.digest }).toEqual({ rows: whole.rows, digest: whole.digest });
  });

  it('completes while its oldest day expires', async () => {
    const folder = folderInTest();
    const now = Date.now() * 1000;
    const store = writerInTest(folder, now - 33 * dayMicros);
    const days = [32.5, 31, 29.5, 15, 1];
    for (const [nth, ago] of days.entries()) await fill(store, 10, { from: nth * 10, at: now - ago * dayMicros });
    const { url } = await startAccount(folder, ['--page-rows', '4']).listening();
    const created = await create(url);
    const first = await page(url, created.cursor);
    const floor = (await store.frontier()).floor;
    await store.maintain(micros(now));
    expect((await store.frontier()).floor).toBeGreaterThan(floor);
    const rest = await follow(url, { cursor: first.next_cursor ?? '' });
    const rows = [...first.rows, ...rest.rows];
    expect(withoutClock(rows)).toEqual(expectedRows(50, (n) => n >= 20));
    expect(rest.digest).toBe(digestChain(created.manifest, rows));
  });
});

describe('an export of many rows', () => {
  it('is refused if it exceeds the row limit, and the error lists adjacent intervals that fit the limit and cover the requested interval', async () => {
    const { url, store } = await observed(95, ['--max-export-rows', '30']);
    const { status, body } = await ask(`${url}/exports`, { did: account });
    expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'export_too_large' });
    expect(accountOpenApi.faults('get', '/exports', 409, body)).toEqual([]);
    const intervals = body.error.intervals ?? [];
    expect(intervals.map(({ rows }) => rows)).toEqual([30, 30, 30, 5, 0]);
    for (const [nth, { start }] of intervals.entries()) if (nth > 0) expect(start).toBe(intervals[nth - 1]?.end);
    const [start, end] = [intervals[0]?.start, intervals.at(-1)?.end].map((text) => parseTimestamp(text) ?? 0);
    expect(Number(end) - Number(start)).toBe(30 * dayMicros);
    const parts = [];
    for (const { start, end } of intervals) parts.push(await create(url, { start, end }));
    // The first part includes the requested time before the start of the store.
    const { startedAt } = await store.epoch();
    expect(parts.map(({ manifest }) => manifest.clipped)).toEqual([true, false, false, false, false]);
    expect(parts.map(({ manifest }) => parseTimestamp(manifest.coverage.warmup?.end))).toEqual([
      startedAt,
      ...Array(4).fill(null),
    ]);
    expect(parseTimestamp(parts[0]?.manifest.interval.start)).toBe(startedAt);
    const rows = [];
    for (const part of parts) rows.push(...(await follow(url, part)).rows);
    expect(withoutClock(rows)).toEqual(expectedRows(95));
  });

  it('is refused with a list of intervals that ends at the requested time even if that time is in the future, and only the last interval is clipped', async () => {
    const { url, store } = await observed(95, ['--max-export-rows', '50']);
    // The interval starts between the start of the store and its first row.
    const began = Math.ceil((await store.epoch()).startedAt / 1000) + 15_000;
    const [start, end] = [began, Date.now() + 3_600_000].map((at) => `${new Date(at).toISOString().slice(0, -1)}000Z`);
    const { body } = await ask(`${url}/exports`, { did: account, start: String(start), end: String(end) });
    const intervals = body.error.intervals ?? [];
    expect([intervals[0]?.start, intervals.at(-1)?.end]).toEqual([start, end]);
    const parts = [];
    for (const { start, end } of intervals) parts.push(await create(url, { start, end }));
    expect(parts.map(({ manifest }) => manifest.clipped)).toEqual([false, false, true]);
  });

  it('is created if its number of rows equals the limit', async () => {
    const { url } = await observed(30, ['--max-export-rows', '30']);
    expect((await follow(url, await create(url))).count).toBe(30);
  });
});

describe('a download', () => {
  /** Returns the snapshot cursor of an account page that was created at the same time as an export. */
  function snapshotOf(folder: string, { cursor }: ExportCreated): string {
    const cursors = createCursors(readSecrets(join(folder, 'account-secret')));
    const opened = cursors.open(cursor);
    if (opened === null) throw new Error('the cursor cannot be opened');
    return cursors.seal({ kind: 'snapshot', snapshot: opened.snapshot });
  }

  it('contains, in one document, the same manifest, rows and digest as an export created at the same time', async () => {
    const { folder, url } = await observed(1_700);
    const created = await create(url);
    const exported = await follow(url, created);
    const { status, headers, body } = await ask<AccountDownload>(`${url}/download`, {
      cursor: snapshotOf(folder, created),
    });
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toBe('attachment; filename="account-export.json"');
    expect(accountOpenApi.faults('get', '/download', 200, body)).toEqual([]);
    expect(body).toEqual({
      manifest: created.manifest,
      rows: exported.rows,
      count: 1_700,
      content_sha256: exported.digest,
    });
  });

  it('is refused with a list of smaller intervals if it exceeds the row limit, as an export is', async () => {
    const { folder, url } = await observed(50);
    const created = await create(url);
    const cursor = snapshotOf(folder, created);
    const smaller = await startAccount(folder, ['--max-export-rows', '20']).listening();
    const { status, body } = await ask(`${smaller.url}/download`, { cursor });
    expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'export_too_large' });
    expect(body.error.intervals?.map(({ rows }) => rows)).toEqual([20, 20, 10, 0]);
    const [first] = body.error.intervals ?? [];
    expect(first?.start).toBe(created.manifest.coverage.warmup?.start);
  });

  /** Returns the manifests of the downloads that a page offers. */
  async function offered(url: string, query: Readonly<Record<string, string>>): Promise<ExportManifest[]> {
    const html = await (await fetch(`${url}/account?${new URLSearchParams({ did: account, ...query })}`)).text();
    const links = [...html.matchAll(/href="(\/download\?cursor=[\w-]+)"/g)].map(([, href]) => url + href);
    const documents = links.map(async (link) => (await (await fetch(link)).json()) as AccountDownload);
    return (await Promise.all(documents)).map(({ manifest }) => manifest);
  }

  it('in several parts is marked as clipped only in the parts whose start or end was clipped', async () => {
    const folder = folderInTest();
    const now = Date.now() * 1000;
    const store = writerInTest(folder, now - 9 * dayMicros);
    for (const [nth, ago] of [8, 5, 2].entries()) await fill(store, 10, { from: nth * 10, at: now - ago * dayMicros });
    const { url } = await startAccount(folder, ['--max-export-rows', '15', '--queue-ms', '20000']).listening();
    const days = (n: number): string => new Date(Date.now() + n * 86_400_000).toISOString();
    for (const [query, clipped] of [
      [{ days: '30' }, [true, false, false]],
      [{ start: days(-8.5), end: days(1) }, [false, false, true]],
      [{ start: days(-20), end: days(1) }, [true, false, true]],
    ] as const) {
      const manifests = await offered(url, query);
      expect(manifests.map((manifest) => manifest.clipped)).toEqual(clipped);
      expect(manifests.map(({ coverage }) => coverage.warmup !== null)).toEqual([clipped[0], false, false]);
    }
  });

  it('rejects the cursor of an export, just as an export rejects the cursor of a download', async () => {
    const { folder, url } = await unchanged(20);
    const created = await create(url);
    const refused = { status: 409, code: 'invalid_cursor' };
    expect((await ask(`${url}/download`, { cursor: created.cursor })).body.error).toEqual({
      ...refused,
      message:
        'This cursor belongs to an export, whose pages are at /exports. /download accepts only the cursor of an account page.',
    });
    expect((await ask(`${url}/exports`, { cursor: snapshotOf(folder, created) })).body.error).toEqual({
      ...refused,
      message:
        'This cursor belongs to an account page and is valid only at /download. To start an export, request /exports with did and no cursor.',
    });
  });

  it.each([
    ['nothing', '', 'invalid_cursor'],
    ['an account', `did=${account}`, 'unknown_parameter'],
  ])('is refused with an error that states what the path accepts (given: %s)', async (_what, search, code) => {
    const { url } = await unchanged(20);
    expect((await ask(`${url}/download`, search)).body.error).toEqual({
      status: 409,
      code,
      message:
        '/download accepts only the cursor of an account page. To export an account, request /exports with did and no cursor.',
    });
  });
});
