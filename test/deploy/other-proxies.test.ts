import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { answering } from '../../harness/net/facts-proxy.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { freePort } from '../../harness/net/ports.ts';
import { root } from '../../harness/process/imports.ts';
import { startForeignInTest } from '../../harness/process/program-in-test.ts';
import { lacks, type Tool, toolPath } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';
import { checkPublicUrl } from '../../src/main/doctor/public-url.ts';

/**
 * Tests the configurations of Varnish, HAProxy, Apache and Squid in `deploy/`, and faulty ones, with the real programs
 * of Debian's packages `varnish haproxy apache2 squid`. Outside CI, a test is skipped if its program is not installed.
 */

/** A program that runs in the foreground with a configuration in a directory. */
interface Proxy {
  readonly tool: Tool;
  readonly file: string;
  /** Replaces the listening port and the port of the service in the configuration. */
  readonly local: (text: string, port: number, facts: number, folder: string) => string;
  readonly args: (folder: string, file: string, port: number) => readonly string[];
}

const proxies = {
  varnish: {
    tool: 'varnish',
    file: 'deploy/varnish/almanac.vcl',
    local: (text, _port, facts) => text.replace('"8400"', `"${facts}"`),
    args: (folder, file, port) => [
      ...['-F', '-f', file, '-a', `127.0.0.1:${port}`, '-n', join(folder, 'work'), '-s', 'malloc,16m'],
      ...['-j', 'none'],
    ],
  },
  haproxy: {
    tool: 'haproxy',
    file: 'deploy/haproxy/almanac.cfg',
    local: (text, port, facts) => text.replace('bind :80\n', `bind 127.0.0.1:${port}\n`).replace(':8400', `:${facts}`),
    args: (_folder, file) => ['-db', '-f', file],
  },
  apache: {
    tool: 'apache',
    file: 'deploy/apache/almanac.conf',
    local: (text, port, facts, folder) =>
      `ServerRoot ${folder}\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log\nListen 127.0.0.1:${port}\n${[
        ...['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http', 'cache', 'cache_disk', 'expires'],
      ]
        .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`)
        .join('')}${text.replace('*:80', `127.0.0.1:${port}`).replace(':8400', `:${facts}`)}`,
    args: (_folder, file) => ['-D', 'FOREGROUND', '-f', file],
  },
  squid: {
    tool: 'squid',
    file: 'deploy/squid/almanac.conf',
    local: (text, port, facts, folder) =>
      `pid_filename ${folder}/pid\ncache_log ${folder}/cache.log\n${text
        .replace('http_port 80', `http_port 127.0.0.1:${port}`)
        .replace('parent 8400', `parent ${facts}`)}`,
    // The name distinguishes the shared memory of several instances.
    args: (_folder, file, port) => ['-N', '-f', file, '-n', `almanac${port}`],
  },
} as const satisfies Record<string, Proxy>;

async function startProxy(proxy: Proxy, facts: number, alter: (text: string) => string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-proxy-'));
  chmodSync(folder, 0o777);
  mkdirSync(join(folder, 'cache'), { mode: 0o777 });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const file = join(folder, 'almanac.conf');
  const shipped = readFileSync(join(root, proxy.file), 'utf8');
  const altered = alter(shipped).replaceAll('FOLDER', folder);
  writeFileSync(file, proxy.local(altered, port, facts, folder));
  const program = startForeignInTest(toolPath(proxy.tool), proxy.args(folder, file, port));
  const url = `http://127.0.0.1:${port}`;
  await answering(url, program);
  return url;
}

async function findings(proxy: Proxy, alter: (text: string) => string = (text) => text): Promise<string[]> {
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
/** Apache's cache, as its documentation shows it. */
const apacheCache = 'CacheEnable disk /\n\tCacheRoot FOLDER/cache\n\tCacheQuickHandler off\n\tProxyPreserveHost On';

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
