import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { labelerFixture, putLabelers } from '../../harness/artifacts/labelers.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { type Nginx, type ProxyAnswer, startNginx } from '../../harness/net/nginx.ts';
import { freePort } from '../../harness/net/ports.ts';
import { writeNginxConfig } from '../../harness/net/proxy-config.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import type { Program } from '../../harness/process/program.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

/** Tests the configuration in `deploy/nginx` in front of the real facts API. */

const overview = '/v1/labels/overview';
const decode: Record<string, (body: Buffer) => Buffer> = {
  identity: (body) => body,
  gzip: (body) => gunzipSync(body),
  br: (body) => brotliDecompressSync(body),
};

describe.skipIf(lacks('nginx'))('deploy/nginx/almanac.conf', () => {
  it('is accepted by nginx as a valid configuration', () => {
    const folder = folderInTest();
    writeNginxConfig(folder, { tls: 8443, plain: 8080, facts: 8400, account: 8401 });
    const accepted = () =>
      execFileSync(toolPath('nginx'), ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'pipe' });
    expect(accepted).not.toThrow();
  });
});

describe.skipIf(lacks('nginx', 'faketime'))('the limits of nginx', () => {
  it('treat an IPv4 address or an IPv6 /64 as one client, and an IPv6 /48 as one site', async () => {
    const clients = await freePort();
    await startNginx({ facts: await freePort(), clients });
    const counted = async (address: string): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${clients}/`, { headers: { 'X-Client': address } });
      return answer.text();
    };
    expect(await counted('198.51.100.7')).toBe('198.51.100.7 ');
    for (const [one, other, isSame] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff::1', true],
      ['2001:db8:1:2::1', '2001:db8:1:2::2', true],
      ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
      ['2001:db8:1::1', '2001:db8:1:0:5::', true],
      ['2001:db8::1', '2001:db8:0:0:5::', true],
      ['2001::1', '2001:0:0:0:5::', true],
      ['2001::1:2:3:4', '2001:0:0:0:5:1:2:3', true],
      ['2001::5:1:2:3:4', '2001:0:0:5:1::', true],
      ['2001:db8:1::1', '2001:db8:1::2:3', true],
      ['2001:db8::1', '2001:db8::7', true],
      ['2001::5:1:2:3:4:5', '2001::6:1:2:3:4:5', false],
      ['2001:0:0:5:1:2:3:4', '2001:0:0:5:9:9:9:9', true],
      ['2001:0:0:5:1:2:3:4', '2001:0:0:6:1:2:3:4', false],
    ] as const) {
      const [first, second] = [await counted(one), await counted(other)].map((text) => text.split(' ')[0]);
      expect([one, other, first === second]).toEqual([one, other, isSame]);
    }
    const site = async (address: string): Promise<string> => (await counted(address)).split(' ')[1] ?? '';
    expect(await site('2001:db8:1:2::1')).toBe(await site('2001:db8:1:ffff:9::1'));
    expect(await site('2001:db8:1:2::1')).not.toBe(await site('2001:db8:2:2::1'));
  });

  it('tell a client that exceeds the rate when to try again, in a response that a page of another origin can read', async () => {
    const nginx = await startNginx({ facts: await freePort(), factsRate: '1r/m' });
    const statuses: number[] = [];
    let last: ProxyAnswer | null = null;
    for (let count = 0; count < 45; count += 1) {
      last = await nginx.ask('/health');
      statuses.push(last.status);
    }
    // The request that waited for the start of nginx counts too.
    expect(statuses.filter((status) => status === 503).length).toBeLessThanOrEqual(41);
    expect([last?.status, last?.headers['retry-after'], last?.headers['cache-control']]).toEqual([
      429,
      '2',
      'no-store',
    ]);
    expect(last?.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Retry-After',
      'strict-transport-security': 'max-age=31536000',
    });
    expect(JSON.parse(String(last?.body))).toMatchObject({ error: { status: 429, code: 'rate_limited' } });
  });
});

describe.skipIf(lacks('nginx', 'faketime'))('the facts API behind nginx', () => {
  let nginx: Nginx;
  let facts: Program;
  let direct = '';
  let folder: ReturnType<typeof artifactFolder>;
  const archive = mkdtempSync(join(tmpdir(), 'almanac-behind-nginx-'));
  let archivedDay = '';

  beforeAll(() => {
    const [day = ''] = writeClosedArchive({
      ...{ before: Date.now(), days: 1 },
      write(path, bytes) {
        mkdirSync(join(archive, dirname(path)), { recursive: true });
        writeFileSync(join(archive, path), bytes);
      },
    });
    archivedDay = day;
  });
  afterAll(() => rmSync(archive, { recursive: true }));

  beforeEach(async () => {
    folder = artifactFolder();
    onTestFinished(folder.remove);
    const args = ['--artifacts', folder.path, '--archive', archive, '--trust-proxy', '1', '--access-log-clients'];
    facts = startProgramInTest(['facts', '--port', '0', ...args], {});
    const { port, url } = await facts.listening();
    direct = url;
    nginx = await startNginx({ facts: port });
  });

  /** Returns the cache status of each request for a path, oldest first. */
  function outcomes(path = overview): string[] {
    return nginx
      .log('almanac-facts.log')
      .map((line) => line.split(' '))
      .filter((words) => words[2] === path)
      .map((words) => words.at(-1) ?? '');
  }

  /**
   * Requests the overview, and waits until nginx has logged the request. Each of nginx's workers writes its own lines,
   * so a later request could otherwise be logged first.
   */
  async function ask(options: Parameters<Nginx['ask']>[1] = {}): Promise<ProxyAnswer> {
    const logged = outcomes().length;
    const answer = await nginx.ask(overview, options);
    await expect.poll(() => outcomes().length).toBe(logged + 1);
    return answer;
  }

  function refusal(body: Buffer): unknown {
    return (JSON.parse(body.toString()) as { error: { code: unknown } }).error.code;
  }

  function hold(): void {
    folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
  }

  it.each(['identity', 'gzip', 'br'])(
    "serves the facts from its cache, with the service's validators, cache headers and CORS headers (%s)",
    async (coding) => {
      const headers = { 'Accept-Encoding': coding };
      const first = await ask({ headers });
      const second = await ask({ headers });
      await expect.poll(() => outcomes()).toEqual(['MISS', 'HIT']);
      expect(second.body.equals(first.body)).toBe(true);
      const plain = decode[coding]?.(second.body);
      const served = await fetch(direct + overview, { headers: { 'Accept-Encoding': 'identity' } });
      expect(JSON.parse(plain?.toString() ?? '')).toMatchObject({
        facts: ((await served.json()) as { facts: object }).facts,
      });
      for (const name of [
        'etag',
        'last-modified',
        'cache-control',
        'vary',
        'access-control-allow-origin',
        'content-type',
      ]) {
        expect([name, second.headers[name]]).toEqual([name, served.headers.get(name)]);
      }
      expect(second.headers['strict-transport-security']).toBe('max-age=31536000');
      // A cached response keeps its original date, from which clients derive the age.
      expect(second.headers.date).toBe(first.headers.date);
    },
  );

  it.each([
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['*;q=0', undefined],
    ['deflate, gzip;q=0.5', 'gzip'],
    ['brotli', undefined],
    ['gzip;q=0.000, br;q=0.001', 'br'],
    ['GZIP', 'gzip'],
  ])('never sends an encoding that the client did not request (Accept-Encoding: %j)', async (asked, coding) => {
    const answer = await nginx.ask(overview, { headers: { 'Accept-Encoding': asked } });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, coding]);
  });

  it('responds to conditional requests as the contract requires, even from its cache', async () => {
    const { headers } = await ask();
    const etag = headers.etag ?? '';
    const same = await ask({ headers: { 'If-None-Match': etag } });
    expect([same.status, same.body.length, same.headers.etag]).toEqual([304, 0, etag]);
    expect(same.headers['access-control-allow-origin']).toBe('*');
    const other = await ask({ headers: { 'If-None-Match': 'W/"other"' } });
    expect(other.status).toBe(200);
    const since = await ask({ headers: { 'If-Modified-Since': new Date().toUTCString() } });
    expect(since.status).toBe(200);
    const sinceExactly = { 'If-Modified-Since': headers['last-modified'] ?? '' };
    expect((await ask({ headers: sinceExactly })).status).toBe(200);
    expect((await ask({ headers: { Range: 'bytes=0-9' } })).status).toBe(200);
    await expect.poll(() => outcomes()).toEqual(['MISS', 'HIT', 'HIT', 'HIT', 'HIT', 'HIT']);
  });

  it('passes each scrape to the service, in the format that it asks for', async () => {
    const types: unknown[] = [];
    for (const accept of ['application/openmetrics-text', 'text/plain', '*/*'])
      types.push((await nginx.ask('/metrics/facts', { headers: { Accept: accept } })).headers['content-type']);
    expect(types).toEqual([
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
      'text/plain; version=0.0.4; charset=utf-8',
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    ]);
  });

  it('caches the list of labelers without a query, and passes each search, order and page of it to the service', async () => {
    putLabelers(folder, labelerFixture({ count: 150, seed: 11 }));
    await until('the labelers are read', async () => (await fetch(`${direct}/labelers.json`)).status === 200);
    const askFor = async (path: string): Promise<string> => {
      const logged = outcomes('/labelers').length;
      const { body } = await nginx.ask(path);
      await expect.poll(() => outcomes('/labelers').length).toBe(logged + 1);
      return body.toString();
    };
    const all = await askFor('/labelers');
    for (const query of ['?q=none-such', '?page=2', '?sort=name']) {
      const own = await askFor(`/labelers${query}`);
      const expected = await (await fetch(`${direct}/labelers${query}`)).text();
      expect([query, own === all, own]).toEqual([query, false, expected]);
    }
    expect(await askFor('/labelers')).toBe(all);
    expect(outcomes('/labelers')).toEqual(['MISS', 'BYPASS', 'BYPASS', 'BYPASS', 'HIT']);
  });

  it('revalidates after max-age with the validator of the cached response', async () => {
    const first = await ask();
    nginx.ahead(59);
    await ask();
    nginx.ahead(61);
    const asked = await ask();
    await expect.poll(() => outcomes()).toEqual(['MISS', 'HIT', 'REVALIDATED']);
    expect(asked.body.equals(first.body)).toBe(true);
    folder.put(artifactNames.labels, youngArtifact('recent'));
    nginx.ahead(122);
    const changed = await ask();
    await expect.poll(() => outcomes()).toEqual(['MISS', 'HIT', 'REVALIDATED', 'EXPIRED']);
    expect(changed.headers.etag).not.toBe(first.headers.etag);
  });

  it('never serves an older reading instead of a refusal, and never caches a refusal', async () => {
    expect((await nginx.ask(overview)).status).toBe(200);
    hold();
    nginx.ahead(61);
    const held = await nginx.ask(overview);
    expect([held.status, refusal(held.body), held.headers['cache-control']]).toEqual([503, 'source_held', 'no-store']);
    folder.put(artifactNames.labels, youngArtifact('recent'));
    expect((await nginx.ask(overview)).status).toBe(200);
  });

  it('never serves an older reading while the service is not running', async () => {
    expect((await nginx.ask(overview)).status).toBe(200);
    facts.child.kill('SIGKILL');
    await facts.ended();
    // The cache may use a response only until the response's max-age has passed.
    expect((await nginx.ask(overview)).status).toBe(200);
    nginx.ahead(61);
    for (const method of ['GET', 'HEAD']) {
      const gone = await nginx.ask(`${overview}?secret=1`, { method });
      expect([gone.status, gone.headers['cache-control']]).toEqual([503, 'no-store']);
      expect(gone.headers['access-control-allow-origin']).toBe('*');
      expect(gone.headers['strict-transport-security']).toBe('max-age=31536000');
      if (method === 'GET') expect(refusal(gone.body)).toBe('source_unavailable');
    }
    expect(nginx.log('almanac-error.log').join('\n')).not.toContain('secret');
  });

  it('matches paths exactly as sent, and ignores the query', async () => {
    await ask();
    expect((await nginx.ask(`${overview}?did=did:plc:secret`)).status).toBe(200);
    for (const path of [
      '/v1/%6Cabels/overview',
      '//v1/labels/overview',
      '/v1/labels/../labels/overview',
      `${overview}/`,
    ]) {
      expect([path, (await nginx.ask(path)).status]).toEqual([path, 404]);
    }
    await expect.poll(() => outcomes()).toEqual(['MISS', 'HIT']);
  });

  it('serves ranges of archive files, and revalidates them, without storing them in its cache', async () => {
    const path = `/archive/days/${archivedDay}/labels-totals.parquet`;
    const whole = readFileSync(join(archive, path.slice('/archive/'.length)));
    const { status, headers, body } = await nginx.ask(path);
    expect([status, headers['accept-ranges'], body.equals(whole)]).toEqual([200, 'bytes', true]);
    const etag = headers.etag ?? '';
    expect(etag).toBe(`"${createHash('sha256').update(whole).digest('hex')}"`);
    const of = whole.length;
    for (const [asked, expected] of [
      [{ Range: 'bytes=-8' }, [206, `bytes ${of - 8}-${of - 1}/${of}`, whole.subarray(-8)]],
      [{ Range: 'bytes=0-3', 'If-Range': etag }, [206, `bytes 0-3/${of}`, whole.subarray(0, 4)]],
      [{ Range: 'bytes=0-3', 'If-Range': '"other"' }, [200, undefined, whole]],
      [{ Range: `bytes=${of}-` }, [416, `bytes */${of}`, Buffer.alloc(0)]],
      [{ 'If-None-Match': etag }, [304, undefined, Buffer.alloc(0)]],
      [{ 'If-Modified-Since': new Date().toUTCString() }, [200, undefined, whole]],
    ] as const) {
      const answer = await nginx.ask(path, { headers: asked });
      expect([asked, [answer.status, answer.headers['content-range'], answer.body]]).toEqual([asked, expected]);
      if (answer.status !== 416) expect(answer.headers.etag).toBe(etag);
    }
    // nginx has not looked into its cache.
    await expect.poll(() => outcomes(path)).toEqual(Array.from({ length: 7 }, () => '-'));
  });

  it('delays a program that downloads the files of an archive one after the other, and refuses none of them', async () => {
    const path = '/archive/index.json';
    for (let count = 0; count < 50; count += 1) expect((await nginx.ask(path)).status).toBe(200);
  });

  it('passes a POST request to the service and the error to the client, and does not cache the health response', async () => {
    const post = await nginx.ask(overview, { method: 'POST' });
    expect([post.status, post.headers.allow, refusal(post.body)]).toEqual([
      405,
      'GET, HEAD, OPTIONS',
      'method_not_allowed',
    ]);
    expect((await nginx.ask('/health')).headers['cache-control']).toBe('no-store');
    await nginx.ask('/health');
    await expect.poll(() => outcomes('/health')).toEqual(['MISS', 'MISS']);
  });

  it("logs neither queries nor clients, and passes the client's address to the service", async () => {
    await nginx.ask('/health?did=did:plc:secret', {
      headers: { 'X-Forwarded-For': '198.51.100.7', Referer: 'https://x.example/?secret' },
    });
    await expect.poll(() => outcomes('/health')).toEqual(['MISS']);
    expect(nginx.log('almanac-facts.log').join('\n')).not.toMatch(/secret|127\.0\.0\.1|198\.51/);
    const answered = () => facts.log().filter(({ route }) => route === '/health');
    await expect.poll(() => answered().map(({ client }) => client)).toEqual(['127.0.0.1']);
  });
});

describe.skipIf(lacks('nginx', 'faketime'))('the account surface behind nginx', () => {
  it('receives each request, and nginx logs no trace of the account', async () => {
    const data = folderInTest();
    const store = openSqliteWriter({ folder: join(data, 'labels'), at: micros(Date.now() * 1000) });
    onTestFinished(() => store.close());
    const account = startProgramInTest([
      ...['account', '--store', `sqlite:${data}/labels`, '--data', data],
      ...['--port', '0', '--trust-proxy', '1'],
    ]);
    const { port } = await account.listening();
    const nginx = await startNginx({ facts: port, account: port });
    const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
    const host = 'account.example.org';
    for (const path of [`/exports?did=${did}`, `/exports?did=${did}`, `/exports?did=${did}&nonsense=1`]) {
      const { status, headers } = await nginx.ask(path, { host });
      expect([status, headers['cache-control']]).toEqual([path.includes('nonsense') ? 409 : 200, 'no-store']);
    }
    await expect
      .poll(() => nginx.log('almanac-account.log').map((line) => line.split(' ').slice(1, 4).join(' ')))
      .toEqual(['GET /exports 200', 'GET /exports 200', 'GET /exports 409']);
    expect(nginx.log('almanac-account.log').join('\n')).not.toMatch(/did:|HIT|127\.0\.0\.1/);
  });

  it('is never cached, even if its headers allow caching, and its queries are never logged', async () => {
    let asked = 0;
    const upstream = createServer((_request, response) => {
      asked += 1;
      // Simulate a bug of the service, which otherwise never allows caching.
      response.writeHead(200, { 'Cache-Control': 'public, max-age=600' }).end(String(asked));
    });
    const { port } = await listenForTest(upstream);
    const nginx = await startNginx({ facts: port, account: port });
    asked = 0;
    const account = { host: 'account.example.org' };
    const path = '/account?did=did:plc:secret';
    const bodies = [await nginx.ask(path, account), await nginx.ask(path, account)].map(({ body }) => body.toString());
    expect(bodies).toEqual(['1', '2']);
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    const gone = await nginx.ask(path, account);
    expect([gone.status, gone.headers['cache-control'], gone.headers['retry-after']]).toEqual([503, 'no-store', '30']);
    expect(gone.headers['strict-transport-security']).toBe('max-age=31536000');
    await expect.poll(() => nginx.log('almanac-account.log')).toHaveLength(3);
    const logs = [...nginx.log('almanac-account.log'), ...nginx.log('almanac-error.log')];
    expect(logs.join('\n')).not.toContain('secret');
  });
});
