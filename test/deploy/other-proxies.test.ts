import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { apacheCache, type OtherProxy, proxies, startProxy } from '../../harness/net/other-proxies.ts';
import { freePort } from '../../harness/net/ports.ts';
import { lacks } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';
import { checkPublicUrl } from '../../src/main/doctor/public-url.ts';

/**
 * Tests the configurations of Varnish, HAProxy, Apache and Squid in `deploy/`, and faulty ones, with the real programs
 * of Debian's packages `varnish haproxy apache2 squid`. Outside CI, a test is skipped if its program is not installed.
 */

async function findings(proxy: OtherProxy, alter: (text: string) => string = (text) => text): Promise<string[]> {
  const port = await freePort();
  const publicUrl = await startProxy(proxy, port, alter);
  const service = { host: '127.0.0.1', port, basePath: '' };
  const found = await checkPublicUrl({ publicUrl, service, wait: (ms) => delay(ms), clock: Date.now });
  return found.map(({ level, found }) => `${level}: ${found.replaceAll(publicUrl, '').trim()}`);
}

const passes = 'ok: passes responses, validators and refusals on, and serves nothing that has expired';
const revived = (when: string) => `fail: an expired response was served although ${when}`;
const [refused, unreachable] = [revived('the service refused it'), revived('the service was unreachable')];
const replaced = 'fail: a refusal of the service arrives as another response (status 503)';
const cachedError = "warn: the proxy's own error (504) may be cached";

/** Faulty configurations, and what the doctor finds. */
const faulty: readonly [
  name: keyof typeof proxies,
  fault: string,
  before: string,
  after: string,
  expected: string[],
][] = [
  [
    'varnish',
    'grace',
    'set beresp.grace = 0s;\n}\n\nsub vcl_backend_error',
    'set beresp.grace = 1h;\n}\n\nsub vcl_backend_error',
    [refused, unreachable],
  ],
  [
    'varnish',
    'no validator',
    'set beresp.grace = 0s;\n}\n\nsub vcl_backend_error',
    'set beresp.grace = 0s;\n  unset beresp.http.ETag;\n}\n\nsub vcl_backend_error',
    ['fail: responses lack ETag', 'fail: If-None-Match has no effect'],
  ],
  ['apache', 'the defaults of mod_cache', 'ProxyPreserveHost On', apacheCache, [refused, unreachable]],
  ['apache', 'CacheStaleOnError off', 'ProxyPreserveHost On', `CacheStaleOnError off\n\t${apacheCache}`, [passes]],
  ['squid', 'no max_stale', 'max_stale 0 seconds\n', '', [refused, unreachable]],
  [
    'squid',
    'a page without no-store',
    'reply_header_add Cache-Control no-store almanac_own_error\n',
    '',
    [cachedError],
  ],
  ['apache', 'ProxyErrorOverride', 'ProxyErrorOverride Off', 'ProxyErrorOverride On', [replaced]],
  [
    'haproxy',
    'own page',
    'http-response set-header Strict',
    'http-response return status 503 content-type text/plain string later if { status ge 500 }\n\thttp-response set-header Strict',
    [replaced],
  ],
];

for (const [name, fault, before, after, expected] of faulty) {
  it.skipIf(lacks(proxies[name].tool))(`the doctor names the fault of ${name}: ${fault}`, async () => {
    const alter = (text: string): string => {
      expect(text).toContain(before);
      return text.replace(before, after);
    };
    // While Varnish requests a new response, it may or may not serve the expired one once more.
    const found = (await findings(proxies[name], alter)).filter((one) => !one.endsWith('served once more'));
    expect(found).toEqual(expected);
  });
}

const all = Object.entries(proxies).map(([name, proxy]) => ({ name, proxy, missing: lacks(proxy.tool) }));

/** Starts a service with a file that has ranges and a fact whose response waits. Counts the requests for the fact. */
async function startService() {
  let asked = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const { url, headers } = request;
    if (url === '/archive/file.parquet') {
      const isRange = headers.range === 'bytes=-4';
      const size = isRange ? { 'Content-Range': 'bytes 4-7/8' } : {};
      // As in the real service, the length is stated: Squid does not end a part in chunks.
      response.writeHead(isRange ? 206 : 200, {
        'Accept-Ranges': 'bytes',
        'Content-Length': isRange ? 4 : 8,
        'Cache-Control': 'public, max-age=60',
        ...size,
      });
      response.end(isRange ? 'PAR1' : 'dataPAR1');
    } else if (url === '/labelers') {
      response.writeHead(200, { 'Cache-Control': 'public, max-age=60', ETag: 'W/"2"' }).end('all labelers');
    } else if (url?.startsWith('/labelers?')) {
      response.writeHead(200, { 'Cache-Control': 'no-store' }).end(`labelers of ${url}`);
    } else if (url === '/v1/slow') {
      asked += 1;
      void released.then(() => {
        response.writeHead(200, { 'Cache-Control': 'public, max-age=60', ETag: 'W/"1"', Vary: 'Accept-Encoding' });
        response.end('slow');
      });
    } else response.writeHead(404, { 'Cache-Control': 'no-store' }).end();
  });
  return { port: (await listenForTest(server)).port, asked: () => asked, release };
}

for (const { name, proxy, missing } of all) {
  it.skipIf(missing)(`${name} with its configuration in deploy/ passes responses and refusals on`, async () => {
    expect(await findings(proxy)).toEqual([passes]);
  });

  it.skipIf(missing)(`${name} with its configuration in deploy/ serves ranges of the archive`, async () => {
    const { port } = await startService();
    const url = await startProxy(proxy, port, (text) => text);
    expect(await (await fetch(`${url}/archive/file.parquet`)).text()).toBe('dataPAR1');
    const part = await fetch(`${url}/archive/file.parquet`, { headers: { Range: 'bytes=-4' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 4-7/8', 'PAR1']);
  });

  it.skipIf(missing)(`${name} with its configuration in deploy/ passes a search of the labelers on`, async () => {
    const { port } = await startService();
    const url = await startProxy(proxy, port, (text) => text);
    const bodies: string[] = [];
    for (const path of ['/labelers', '/labelers?q=none-such', '/labelers?page=2', '/labelers'])
      bodies.push(await (await fetch(url + path)).text());
    expect(bodies).toEqual([
      ...['all labelers', 'labelers of /labelers?q=none-such', 'labelers of /labelers?page=2', 'all labelers'],
    ]);
  });

  const coalesces = name === 'varnish' || name === 'squid';
  it.skipIf(missing)(`${name} asks the service ${coalesces ? 'once' : 'each time'} for several clients`, async () => {
    const service = await startService();
    const url = await startProxy(proxy, service.port, (text) => text);
    const first = fetch(`${url}/v1/slow`);
    await until('the first request arrives', () => service.asked() === 1);
    const others = Array.from({ length: 4 }, () => fetch(`${url}/v1/slow`));
    if (!coalesces) await until('every request arrives', () => service.asked() === 5);
    // The other requests may still be on their way, and then find the response in the cache.
    service.release();
    const bodies = await Promise.all([first, ...others].map(async (response) => (await response).text()));
    expect([bodies, service.asked()]).toEqual([Array.from({ length: 5 }, () => 'slow'), coalesces ? 1 : 5]);
  });
}
