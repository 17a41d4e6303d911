import { afterEach, beforeEach, expect, test } from 'vitest';
import { Relay } from '../../../sim/relay/relay.ts';
import { createHttpClient, type HttpClient } from '../../network/http/http.ts';
import { listLabelers } from './relay-list.ts';

let relay: Relay;
let origin: string;
let http: HttpClient;
const dids = Array.from({ length: 25 }, (_, i) => `did:plc:${String.fromCharCode(97 + i).repeat(24)}`);
const options = (timeoutMs = 20_000) => ({ timeoutMs, signal: new AbortController().signal });

beforeEach(async () => {
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

test.each(['down', 'html', 'hanging'] as const)(
  'listing a relay returns an empty, incomplete list (relay state: %s)',
  async (state) => {
    relay.state = state;
    expect(await listLabelers(http, origin, options(1_000))).toEqual({ dids: [], complete: false });
  },
);

test('the list of a relay that repeats one page forever contains that page and is marked as incomplete', async () => {
  relay.state = 'endless_pages';
  const listing = await listLabelers(http, origin, options());
  expect({ ...listing, dids: listing.dids.length > 0 }).toEqual({ dids: true, complete: false });
  expect(relay.requests).toBeLessThanOrEqual(100);
});
