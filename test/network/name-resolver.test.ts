import type { LookupAddress } from 'node:dns';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DnsAnswer, type DnsServer, startDnsServer } from '../../harness/net/dns-server.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import type { DnsRecord } from '../../sim/dns/message.ts';
import { createNameResolver } from '../../src/network/dns/name-resolver.ts';
import { BusyResolverError } from '../../src/network/guard/address-policy.ts';
import { createHttpClient } from '../../src/network/http/http.ts';

let server: DnsServer | null = null;

afterEach(async () => {
  await server?.stop();
  server = null;
});

async function world(
  answer: (name: string, type: DnsRecord['type']) => DnsAnswer,
  options: Partial<Parameters<typeof createNameResolver>[0]> = {},
) {
  const time = { ms: 0 };
  const dns = await startDnsServer(answer);
  server = dns;
  const servers = [dns.address];
  const resolver = createNameResolver({ hostsFile: null, servers, clock: () => time.ms, ...options });
  return { dns, time, resolver };
}

function find({ resolve }: ReturnType<typeof createNameResolver>, name: string, signal = new AbortController().signal) {
  return new Promise<readonly string[] | string>((done) => {
    resolve(name, { signal }, (error, addresses: LookupAddress[]) =>
      done(error ? (error.code ?? error.name) : addresses.map(({ address }) => address)),
    );
  });
}

const a = (value: string, ttlSeconds = 60): DnsRecord => ({ type: 'A', ttlSeconds, value });
const aaaa = (value: string, ttlSeconds = 60): DnsRecord => ({ type: 'AAAA', ttlSeconds, value });

function hostsFile(text: string): string {
  const directory = folderInTest();
  const path = join(directory, 'hosts');
  writeFileSync(path, text);
  return path;
}

describe('the result of resolving a name', () => {
  it('has the addresses of both families, at most eight of each', async () => {
    const many = Array.from({ length: 20 }, (_, i) => a(`203.0.113.${i}`));
    const { resolver } = await world((name) =>
      name === 'many.example' ? many : [a('203.0.113.7'), aaaa('2001:db8:0:0:0:0:0:7')],
    );
    expect(await find(resolver, 'Both.Example.')).toEqual(['203.0.113.7', '2001:db8::7']);
    expect(await find(resolver, 'many.example')).toHaveLength(8);
  });

  it('is empty for a name that does not exist or has no address, but a failure if the server fails', async () => {
    const { resolver } = await world((name) =>
      name === 'gone.example' ? 'none' : name === 'broken.example' ? 'failure' : [],
    );
    expect(await find(resolver, 'gone.example')).toBe('ENOTFOUND');
    expect(await find(resolver, 'empty.example')).toBe('ENOTFOUND');
    expect(await find(resolver, `${'x'.repeat(64)}.example`)).toBe('ENOTFOUND');
    expect(await find(resolver, 'broken.example')).toBe('ESERVFAIL');
  });

  it('contains the addresses of one family if the query for the other family gets no response', async () => {
    const { resolver } = await world((_, type) => (type === 'A' ? [a('203.0.113.7')] : 'silence'));
    expect(await find(resolver, 'half.example')).toEqual(['203.0.113.7']);
  });

  it('is a failure if no server has responded by the deadline', async () => {
    const { resolver } = await world(() => 'silence', { deadlineMs: 50 });
    expect(await find(resolver, 'silent.example')).toBe('ETIMEOUT');
  });

  it('consists of the loopback addresses for names under localhost, without a query', async () => {
    const { dns, resolver } = await world(() => 'none');
    expect(await find(resolver, 'localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await find(resolver, 'l1.d1.localhost')).toEqual(['127.0.0.1', '::1']);
    expect(dns.asked).toEqual([]);
  });
});

describe('a DNS response', () => {
  it('is cached for its own lifetime, within bounds', async () => {
    let ttl = 0;
    const { dns, time, resolver } = await world(() => [a('203.0.113.7', ttl)]);
    const questions = async (...atMs: number[]) => {
      const counts: number[] = [];
      for (const ms of atMs) {
        time.ms = ms;
        await find(resolver, 'one.example');
        counts.push(dns.asked.filter((question) => question === 'one.example A').length);
      }
      return counts;
    };
    expect(await questions(0, 29_999, 30_000)).toEqual([1, 1, 2]);
    ttl = 120;
    expect(await questions(60_000, 179_999, 180_000)).toEqual([3, 3, 4]);
    ttl = 1_000_000;
    expect(await questions(300_000, 3_899_999, 3_900_000)).toEqual([5, 5, 6]);
  });

  it('is cached for one minute if it has no record, and for five seconds if it is a failure', async () => {
    const { dns, time, resolver } = await world((name) => (name === 'gone.example' ? 'none' : 'failure'));
    const questions = async (name: string, ms: number) => {
      time.ms = ms;
      await find(resolver, name);
      return dns.asked.filter((question) => question === `${name} A`).length;
    };
    expect([await questions('gone.example', 0), await questions('gone.example', 59_999)]).toEqual([1, 1]);
    expect(await questions('gone.example', 60_000)).toBe(2);
    const failed = await questions('broken.example', 0);
    expect(await questions('broken.example', 4_999)).toBe(failed);
    expect(await questions('broken.example', 5_000)).toBeGreaterThan(failed);
  });

  it('is shared by concurrent callers, and cached up to a maximum number of names', async () => {
    const { dns, resolver } = await world(() => [a('203.0.113.7')], { maxEntries: 2 });
    await Promise.all(Array.from({ length: 10 }, () => find(resolver, 'one.example')));
    expect(dns.asked.sort()).toEqual(['one.example A', 'one.example AAAA']);
    for (const name of ['two.example', 'three.example', 'one.example']) await find(resolver, name);
    expect(dns.asked.filter((question) => question === 'one.example A')).toHaveLength(2);
  });
});

describe('many names without a response', () => {
  const silentUnder = (domain: string) => (name: string) =>
    name.endsWith(domain) ? ('silence' as const) : [a('203.0.113.7')];

  it('delay neither another name nor the thread pool', async () => {
    const { resolver } = await world(silentUnder('.hostile.example'));
    const stop = new AbortController();
    const hanging = Array.from({ length: 100 }, (_, i) => find(resolver, `l${i}.hostile.example`, stop.signal));
    expect(await find(resolver, 'honest.example')).toEqual(['203.0.113.7']);
    stop.abort();
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['ECANCELLED']));
  });

  it('take at most the slots of their domain, and fail as busy if no slot is free before the deadline', async () => {
    // The deadlines pass only after the honest name is resolved, however long that takes.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { dns, resolver } = await world(silentUnder('.hostile.example'), { total: 4, perDomain: 2, deadlineMs: 300 });
    const hanging = Array.from({ length: 6 }, (_, i) => find(resolver, `l${i}.hostile.example`));
    expect(await find(resolver, 'honest.example')).toEqual(['203.0.113.7']);
    expect(new Set(dns.asked.filter((question) => question.includes('hostile'))).size).toBe(4);
    vi.advanceTimersByTime(300);
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['ETIMEOUT', 'BusyResolverError']));
  });

  it('are no longer looked up once the requests that need them are aborted', async () => {
    const { resolver } = await world(() => 'silence');
    const client = createHttpClient({
      policy: { allowLoopback: true },
      userAgent: 'Almanac/test',
      resolve: resolver.resolve,
    });
    onTestFinished(() => client.close());
    const limits = { maxBytes: 100, timeoutMs: 60_000 };
    const stop = new AbortController();
    const asked = Array.from({ length: 60 }, (_, i) =>
      client.getJson(`http://l${i}.hostile${i}.example/`, { ...limits, signal: stop.signal }),
    );
    await expect.poll(() => server?.asked.length).toBeGreaterThan(60);
    stop.abort();
    expect(new Set((await Promise.all(asked)).map(({ kind }) => kind))).toEqual(new Set(['aborted']));
  });
});

describe('a request to a name that could not be resolved', () => {
  it('fails as busy if a limit of the resolver was the reason', async () => {
    const { url } = await listening();
    const client = createHttpClient({
      policy: { allowLoopback: true },
      userAgent: 'Almanac/test',
      resolve: (_name, _options, done) => done(new BusyResolverError(), []),
    });
    onTestFinished(() => client.close());
    const signal = new AbortController().signal;
    expect(await client.getJson(url, { maxBytes: 100, timeoutMs: 1_000, signal })).toEqual({ kind: 'busy' });
  });

  async function listening() {
    const { port } = await listenForTest(createServer());
    return { url: `http://name.example:${port}/` };
  }
});

describe('the hosts file', () => {
  it('takes precedence over DNS, is read again after a change, and may be missing', async () => {
    const path = hostsFile('203.0.113.1 relay.example Relay2.example # own\nnonsense\n2001:db8::1\trelay.example\n');
    const { resolver } = await world(() => [a('203.0.113.9')], { hostsFile: path });
    expect(await find(resolver, 'relay.example')).toEqual(['203.0.113.1', '2001:db8::1']);
    expect(await find(resolver, 'RELAY2.example')).toEqual(['203.0.113.1']);
    writeFileSync(path, '203.0.113.22 relay.example\n');
    expect(await find(resolver, 'relay.example')).toEqual(['203.0.113.22']);
    rmSync(path);
    expect(await find(resolver, 'relay.example')).toEqual(['203.0.113.9']);
  });

  it('is ignored for names that other parties choose', async () => {
    hostsFile('203.0.113.1 relay.example\n');
    const { resolver } = await world(() => [a('203.0.113.9')]);
    expect(await find(resolver, 'relay.example')).toEqual(['203.0.113.9']);
  });
});

describe('the TXT records of a name', () => {
  it('are returned unchanged', async () => {
    const { resolver } = await world(() => [{ type: 'TXT', ttlSeconds: 60, value: 'did=did:plc:a' }]);
    expect(await resolver.resolveTxt('_atproto.one.example', new AbortController().signal)).toEqual([
      ['did=did:plc:a'],
    ]);
  });

  it('are abandoned if the caller aborts before a response', async () => {
    const { dns, resolver } = await world(() => 'silence');
    const stop = new AbortController();
    const texts = resolver.resolveTxt('_atproto.one.example', stop.signal).catch(({ code }: { code: string }) => code);
    await expect.poll(() => dns.asked).toEqual(['_atproto.one.example TXT']);
    stop.abort();
    expect(await texts).toBe('ECANCELLED');
  });
});
