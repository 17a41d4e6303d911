import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Relay } from '../../../sim/relay/relay.ts';
import { createHttpClient, type HttpClient } from '../../network/http/http.ts';
import { OperatorError } from '../../ops/errors.ts';
import { listLabelers, readSeeds } from './labeler-lists.ts';

let relay: Relay;
let origin: string;
let http: HttpClient;
const dids = Array.from({ length: 25 }, (_, i) => `did:plc:${String.fromCharCode(97 + i).repeat(24)}`);
/** Waits before repeated requests, in milliseconds. */
let waits: number[];
const options = (timeoutMs = 20_000) => ({
  ...{ timeoutMs, signal: new AbortController().signal },
  wait: async (ms: number) => void waits.push(ms),
});

beforeEach(async () => {
  waits = [];
  relay = new Relay(() => Date.now() * 1000);
  relay.dids.push(...dids);
  relay.pageLimit = 10;
  origin = await relay.start('127.0.0.1');
  http = createHttpClient({ policy: { allowLoopback: true }, userAgent: 'Almanac/test' });
});

afterEach(async () => {
  await http.close();
  await relay.stop();
});

test('every page of a relay is read, each labeler is listed once, and invalid DIDs are omitted', async () => {
  relay.dids.push('did:plc:short', 'handle.example.com', dids[0] ?? '');
  expect(await listLabelers(http, origin, options())).toEqual({ dids, complete: true });
  expect(relay.requests).toBe(3);
});

test('a did:web is listed in its normal form, so that other spellings do not add labelers', async () => {
  relay.dids.splice(0, Infinity, 'did:web:Mod.Example.com', 'did:web:mod.example.com', 'did:web:MOD.example.com');
  expect(await listLabelers(http, origin, options())).toMatchObject({ dids: ['did:web:mod.example.com'] });
});

/** Lists the labelers of a relay whose pages have these bodies. */
async function listingOf(...bodies: readonly unknown[]) {
  const left = [...bodies];
  const asked: (string | null)[] = [];
  const getJson = async (url: URL | string) => {
    asked.push(new URL(url).searchParams.get('cursor'));
    return { kind: 'json', status: 200, date: null, value: left.shift() ?? { repos: [] } } as const;
  };
  return { listing: await listLabelers({ ...http, getJson }, 'https://relay.example', options()), asked };
}

test('a cursor that is a number is followed like a text, and null stands for an absent cursor or an empty list', async () => {
  const repos = dids.slice(0, 2).map((did) => ({ did }));
  const { listing, asked } = await listingOf({ repos, cursor: 2 }, { repos: null, cursor: null });
  expect([listing, asked]).toEqual([{ dids: dids.slice(0, 2), complete: true }, [null, '2']]);
});

test.each([{ cursor: {} }, { cursor: true }, { cursor: 1.5 }])(
  'a page whose cursor cannot be followed is requested again, because it does not end the list (%o)',
  async (cursor) => {
    const repos = dids.slice(0, 1).map((did) => ({ did }));
    const { listing, asked } = await listingOf({ repos, ...cursor }, { repos, cursor: 'x' }, { repos: [] });
    expect([listing, asked]).toEqual([{ dids: dids.slice(0, 1), complete: true }, [null, null, 'x']]);
  },
);

test.each(['down', 'html', 'hanging'] as const)(
  'listing a relay returns an empty, incomplete list (relay state: %s)',
  async (state) => {
    relay.state = state;
    expect(await listLabelers(http, origin, options(250))).toEqual({ dids: [], complete: false });
    expect(waits).toEqual([1_000, 5_000, 15_000]);
  },
);

test.each(['down', 'html', 'broken_json', 'hanging'] as const)(
  'a page that fails once does not hide the labelers after it (state of the page: %s)',
  async (state) => {
    relay.failing.set(1, [state]);
    expect(await listLabelers(http, origin, options(state === 'hanging' ? 1_000 : 20_000))).toEqual({
      dids,
      complete: true,
    });
    expect([relay.requests, waits]).toEqual([4, [1_000]]);
  },
);

test('every page may fail several times, each time in a different way', async () => {
  for (const page of [0, 1, 2]) relay.failing.set(page, ['down', 'html', 'broken_json']);
  expect(await listLabelers(http, origin, options())).toEqual({ dids, complete: true });
  expect(waits).toEqual([0, 1, 2].flatMap(() => [1_000, 5_000, 15_000]));
});

test('a page that fails too often ends the list, and the labelers before it are listed', async () => {
  relay.failing.set(
    1,
    Array.from({ length: 4 }, () => 'down' as const),
  );
  expect(await listLabelers(http, origin, options())).toEqual({ dids: dids.slice(0, 10), complete: false });
});

test('a relay whose pages all fail is asked a limited number of times, and not at all after an abort', async () => {
  relay.pageLimit = 1;
  for (const page of dids.keys()) relay.failing.set(page, ['down', 'down']);
  expect((await listLabelers(http, origin, options())).dids).toEqual(dids.slice(0, 4));
  expect(waits).toHaveLength(9);
  const stop = new AbortController();
  relay.state = 'down';
  const before = relay.requests;
  const wait = async () => stop.abort();
  expect(await listLabelers(http, origin, { ...options(), wait, signal: stop.signal })).toEqual({
    ...{ dids: [], complete: false },
  });
  expect(relay.requests).toBe(before + 1);
});

test('the list of a relay that repeats one page forever contains that page and is marked as incomplete', async () => {
  relay.state = 'endless_pages';
  const listing = await listLabelers(http, origin, options());
  expect({ ...listing, dids: listing.dids.length > 0 }).toEqual({ dids: true, complete: false });
  expect(relay.requests).toBeLessThanOrEqual(100);
});

const a = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-seeds-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function seeds(text: string): Promise<readonly string[]> {
  const path = join(folder, 'seeds.json');
  writeFileSync(path, text);
  return readSeeds(path);
}

test('a seeds file lists DIDs; other keys and repeated DIDs are ignored', async () => {
  const text = JSON.stringify([{ did: a, name: 'x' }, { did: 'did:web:example.com' }, { did: a }]);
  expect(await seeds(text)).toEqual([a, 'did:web:example.com']);
  expect(await seeds('[]')).toEqual([]);
  expect(await seeds('[{"did":"did:web:Example.com"}]')).toEqual(['did:web:example.com']);
});

test.each([
  ['not JSON', 'is not JSON'],
  ['{"did":"x"}', 'is not a JSON array of {"did"} objects'],
  [`[{"did":"${a}"},"did:plc:b"]`, 'entry 2 in the seeds file'],
  ['[{"did":"did:key:z"}]', 'is not a DID: a DID is did:plc: and 24 of'],
])('a seeds file with the content %s is refused, and the error states the reason', async (text, why) => {
  const refusal = seeds(text);
  await expect(refusal).rejects.toThrow(OperatorError);
  await expect(refusal).rejects.toThrow(why);
});

test('the error for a missing seeds file names the file and the setting', async () => {
  await expect(readSeeds(join(folder, 'none.json'))).rejects.toThrow(
    'none.json: no such file or directory (ENOENT); choose another file with --seeds',
  );
});

test('the shipped seeds file is valid', async () => {
  const shipped = await readSeeds(new URL('../../../assets/labelers.json', import.meta.url).pathname);
  expect(shipped.length).toBeGreaterThan(100);
});
