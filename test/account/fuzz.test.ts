import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { account, fill, labelers, writerInTest } from '../../harness/accounts/account.ts';
import { cursors as arbitraryCursors } from '../../harness/accounts/snapshots.ts';
import { accountOpenApi } from '../../harness/artifacts/openapi.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { createAccountApp } from '../../src/account/app.ts';
import { createClientBudget, createCostBudget } from '../../src/account/budget/budgets.ts';
import { createCursors } from '../../src/account/cursor/cursor.ts';
import { accountPages } from '../../src/account/page/pages.tsx';
import { createReadingPool } from '../../src/account/reading/reading-pool.ts';
import type { ExportCreated } from '../../src/contract/account.ts';

/** Number of fuzzed requests to the API. */
const runs = 50_000;
/** Number of fuzzed requests for pages. */
const pageRuns = 5_000;

/** Creates the account application with a real store and real store-reading processes, but without a socket. */
async function surface() {
  const folder = folderInTest();
  const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
  await fill(store, 60, { at: (Date.now() - 30_000) * 1000 });
  const alarms: unknown[] = [];
  const alarm = (_route: string, error: unknown): void => void alarms.push(error);
  const reading = createReadingPool({
    url: `sqlite:${folder}/labels`,
    readers: 2,
    maxWaiting: 1_000,
    waitMs: 60_000,
    deadlineMs: 60_000,
    sliceMs: 60_000,
    monotonic: () => performance.now(),
    telemetry: {
      turn: () => undefined,
      busy: () => undefined,
      storeFailed: () => undefined,
      restarted: () => undefined,
    },
  });
  onTestFinished(() => reading.stop());
  const cursors = createCursors([Buffer.alloc(32, 1)]);
  const app = createAccountApp({
    reading,
    cursors,
    budget: createClientBudget(null),
    cost: createCostBudget(null),
    clock: Date.now,
    monotonic: () => performance.now(),
    bounds: { maxExportRows: 40, pageRows: 10, ttlMs: 60_000 },
    basePath: '',
    openapi: { bytes: () => null },
    pages: accountPages({ base: '', styles: new Map(), findHandle: null, alarm }),
    alarm,
  });
  async function get(target: string): Promise<{ status: number; text: string }> {
    const request = { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined, client: '192.0.2.1' };
    const reply = await app.answer(request, Date.now(), new AbortController().signal);
    if (!('stream' in reply)) return { status: reply.status, text: reply.body?.toString() ?? '' };
    const pieces: Uint8Array[] = [];
    for await (const piece of reply.stream) pieces.push(piece);
    return { status: reply.status, text: Buffer.concat(pieces).toString() };
  }
  return { folder, cursors, alarms, get };
}

/** Generates query strings, from random text to valid queries. */
function queries(cursors: ReturnType<typeof createCursors>, real: string): fc.Arbitrary<string> {
  const names = [
    'did',
    'days',
    'start',
    'end',
    'labeler',
    'value',
    'action',
    'target_kind',
    'cursor',
    'before',
    'lang',
    'Did',
  ];
  const instants = fc
    .date({ min: new Date(Date.now() - 50 * 86_400_000), max: new Date(Date.now() + 86_400_000), noInvalidDate: true })
    .map((date) => date.toISOString());
  const made = arbitraryCursors.map((cursor) => cursors.seal(cursor));
  const values = fc.oneof(
    fc.constantFrom(
      account,
      ...labelers,
      '7',
      '30',
      '8',
      'post',
      'record',
      'application_observed',
      'spam',
      'de',
      real,
      '',
    ),
    instants,
    made,
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom("' OR 1=1 --", '%00', '../../etc/passwd', '\u0000', '%ff', '9'.repeat(400), '-1', '1e9', '\ud800'),
  );
  const pair = fc.tuple(fc.constantFrom(...names), values).map(([name, value]) => `${name}=${encode(value)}`);
  const raw = fc.string({ unit: 'binary', maxLength: 60 });
  const good = fc
    .record({ days: fc.constantFrom('7', '30'), value: fc.constantFrom('spam', 'x') }, { requiredKeys: [] })
    .map((filters) => new URLSearchParams({ did: account, ...filters }).toString());
  const interval = fc
    .tuple(instants, instants)
    .map(([start, end]) => new URLSearchParams({ did: account, start, end }).toString());
  const cursor = fc.oneof(made, fc.constant(real), altered(real)).map((text) => `cursor=${text}`);
  return fc.oneof(
    raw,
    { arbitrary: fc.array(pair, { maxLength: 6 }).map((pairs) => pairs.join('&')), weight: 4 },
    { arbitrary: fc.array(pair, { maxLength: 4 }).map((pairs) => [`did=${account}`, ...pairs].join('&')), weight: 3 },
    good,
    interval,
    { arbitrary: cursor, weight: 3 },
  );
}

function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

function altered(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(text.length - 1), fc.string({ maxLength: 2 }))
    .map(([at, change]) => `${text.slice(0, at)}${change}${text.slice(at + 1)}`);
}

/** Returns internal texts that no response may contain. */
function insidesOf(folder: string): readonly string[] {
  return [folder, 'sqlite', 'SQLITE', 'better-', 'node_modules', '.ts:', '.js:', 'observation(', 'SELECT', '    at '];
}

it('the account application responds as documented and without internal details to random query strings and cursors', async () => {
  const { folder, cursors, alarms, get } = await surface();
  const made = await get(`/exports?did=${account}&value=spam&days=7&end=`);
  // Take the cursor of another account, because this account has more rows than an export may have.
  expect(made.status).toBe(409);
  const { cursor } = JSON.parse((await get('/exports?did=did:web:nobody.example.com')).text) as ExportCreated;
  const paths = fc.constantFrom('/exports', '/exports', '/download');
  const targets = fc.sample(fc.tuple(paths, queries(cursors, cursor)), { numRuns: runs, seed: Date.now() });
  const statuses = new Map<string, number>();
  const insides = insidesOf(folder);
  for (let first = 0; first < targets.length; first += 200) {
    await Promise.all(
      targets.slice(first, first + 200).map(async ([path, search]) => {
        const { status, text } = await get(`${path}?${search}`);
        const reported = JSON.parse(text) as { error?: { code: string } };
        const faults = accountOpenApi.faults('get', path, status, reported);
        if (faults.length > 0) expect.fail(`${path}?${search}: ${status} ${text}: ${faults.join(', ')}`);
        for (const inside of insides) if (text.includes(inside)) expect.fail(`${path}?${search} shows ${inside}`);
        const kind = `${status} ${reported.error?.code ?? 'ok'}`;
        statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
      }),
    );
  }
  expect(alarms).toEqual([]);
  expect([...statuses.keys()].sort()).toEqual([
    '200 ok',
    '409 export_too_large',
    '409 invalid_account',
    '409 invalid_cursor',
    '409 invalid_filter',
    '409 invalid_interval',
    '409 out_of_window',
    '409 unknown_parameter',
    '409 unsupported_interval',
    '410 snapshot_expired',
  ]);
});

it('the account application sends a documented page or redirect without internal details for random query strings', async () => {
  const { folder, cursors, alarms, get } = await surface();
  const pasted = fc.constantFrom(` ${account} `, `at://${account}/x/y`, account.toUpperCase(), 'alice.example', '@');
  const named = fc
    .tuple(pasted, queries(cursors, 'no-cursor'))
    .map(([did, rest]) => `did=${encodeURIComponent(did)}&${rest}`);
  const mixed = fc.oneof({ arbitrary: queries(cursors, 'no-cursor'), weight: 4 }, named);
  const searches = fc.sample(mixed, { numRuns: pageRuns, seed: Date.now() });
  const insides = insidesOf(folder);
  const statuses = new Map<number, number>();
  for (let first = 0; first < searches.length; first += 100) {
    await Promise.all(
      searches.slice(first, first + 100).map(async (search) => {
        const { status, text } = await get(`/account?${search}`);
        const described = accountOpenApi.contentTypes('get', '/account', status);
        expect({ search, status, described }).toMatchObject({ described: status === 303 ? [] : ['text/html'] });
        expect(text.startsWith(status === 303 ? '' : '<!doctype html>')).toBe(true);
        for (const inside of insides) if (text.includes(inside)) expect.fail(`/account?${search} shows ${inside}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }),
    );
  }
  expect(alarms).toEqual([]);
  expect([...statuses.keys()].sort()).toEqual([200, 303, 409]);
});
