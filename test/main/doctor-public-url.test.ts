import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { type Changes, startFactsProxy } from '../../harness/net/facts-proxy.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { startStaleCache, upstreamAt } from '../../harness/net/nginx.ts';
import { freePort } from '../../harness/net/ports.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks } from '../../harness/process/tools.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { takeDemoFolder } from '../../src/main/demo-folder.ts';
import type { Finding } from '../../src/main/doctor/finding.ts';
import { checkPublicUrl } from '../../src/main/doctor/public-url.ts';

/** Tests which settings of a real proxy the doctor detects, and that it accepts the shipped configurations. */

const passes = 'ok: passes responses, validators and refusals on, and serves nothing that has expired';

/** Checks a proxy in front of a port. Returns each finding with the first setting that its remedy names. */
async function checked(publicUrl: string, port: number, clock = Date.now, basePath = ''): Promise<string[]> {
  const service = { host: '127.0.0.1', port, basePath };
  const findings = await checkPublicUrl({ publicUrl, service, wait: (ms) => delay(ms), clock });
  return findings.map(({ level, found, todo }) => {
    const named = /\((?:nginx|no|Apache): ([^;)]+)/.exec(todo ?? '')?.[1];
    return `${level}: ${found.replaceAll(publicUrl, '').trim()}${named === undefined ? '' : ` [${named}]`}`;
  });
}

/** Starts a proxy in front of a port on which nothing listens, and checks it. */
async function tried(proxy: 'nginx' | 'caddy', changes: Changes): Promise<string[]> {
  const port = await freePort();
  return checked(await startFactsProxy(proxy, port, changes), port);
}

const stale = (when: string): Changes => [['proxy_cache_use_stale off', `proxy_cache_use_stale ${when}`]];
const revives = (when: string) => `fail: an expired response was served although ${when} [proxy_cache_use_stale off]`;
const replaced = '[proxy_intercept_errors off]';

/** Configurations of nginx with one error each, and what the doctor finds. */
const nginxCases: readonly [name: string, changes: Changes, expected: readonly string[]][] = [
  ['shipped', [], [passes]],
  ['expired on 503', stale('http_503'), [revives('the service refused it')]],
  ['expired on error', stale('error timeout'), [revives('the service was unreachable')]],
  [
    'refusals cached',
    [['proxy_ignore_headers Vary;', 'proxy_ignore_headers Vary Cache-Control; proxy_cache_valid any 1s;']],
    [
      'fail: a refusal is repeated from a cache [no proxy_cache_valid for 503 or any, no proxy_ignore_headers Cache-Control]',
    ],
  ],
  [
    'validators hidden',
    [['gzip off;', 'gzip off; proxy_hide_header ETag; proxy_hide_header Vary;']],
    [
      'fail: responses lack ETag, Vary: Accept-Encoding [no proxy_hide_header, gzip off]',
      'fail: If-None-Match has no effect [proxy_cache_revalidate on, no proxy_set_header If-None-Match ""]',
    ],
  ],
  [
    'lifetime extended',
    [['gzip off;', 'gzip off; expires 1h;']],
    [
      'fail: the proxy changed Cache-Control from "public, max-age=1" to "max-age=3600" [no expires, no add_header Cache-Control]',
    ],
  ],
  [
    'refusals replaced',
    [['error_page 502 504 =503 @gone;', 'proxy_intercept_errors on; error_page 502 503 504 =503 @gone;']],
    [`fail: a refusal of the service arrives as another response (status 503) ${replaced}`],
  ],
  [
    'elsewhere',
    [['proxy_pass http://almanac_facts;', 'return 200 "welcome";']],
    ['fail: responds with status 200 itself: no request reached the port of the facts service'],
  ],
  [
    'own error may be cached',
    [['error_page 502 504 =503 @gone;', '']],
    ["warn: the proxy's own error (502) may be cached"],
  ],
];

it.skipIf(lacks('nginx'))(
  'the doctor accepts the shipped configuration of nginx, and names the setting of each faulty one',
  async () => {
    const found = await Promise.all(
      nginxCases.map(async ([name, changes]) => [name, await tried('nginx', changes)] as const),
    );
    expect(found).toEqual(nginxCases.map(([name, , expected]) => [name, expected]));
  },
);

const inProxy = 'flush_interval -1';
const caddyCases: readonly [name: string, changes: Changes, expected: readonly string[]][] = [
  ['shipped', [], [passes]],
  [
    'validators removed',
    [[inProxy, `${inProxy}\n\t\theader_down -ETag\n\t\theader_down -Last-Modified`]],
    ['fail: responses lack ETag, Last-Modified [no proxy_hide_header, gzip off]'],
  ],
  [
    'refusals replaced',
    [[inProxy, `${inProxy}\n\t\t@down status 5xx\n\t\thandle_response @down {\n\t\t\trespond "later" 503\n\t\t}`]],
    [`fail: a refusal of the service arrives as another response (status 503) ${replaced}`],
  ],
  [
    'lifetime changed',
    [[inProxy, `${inProxy}\n\t\theader_down Cache-Control "public, max-age=600"`]],
    [
      'fail: the proxy changed Cache-Control from "public, max-age=1" to "public, max-age=600" [no expires, no add_header Cache-Control]',
      'fail: a refusal lost its Cache-Control: no-store [no expires, no add_header Cache-Control]',
    ],
  ],
  [
    'elsewhere',
    [['import almanac_proxy 127', 'respond "welcome" 200\n\timport almanac_proxy 127']],
    ['fail: responds with status 200 itself: no request reached the port of the facts service'],
  ],
];

it.skipIf(lacks('caddy'))(
  'the doctor accepts the shipped configuration of Caddy, and names the fault of each faulty one',
  async () => {
    const found = await Promise.all(
      caddyCases.map(async ([name, changes]) => [name, await tried('caddy', changes)] as const),
    );
    expect(found).toEqual(caddyCases.map(([name, , expected]) => [name, expected]));
  },
);

it('warns that it compared nothing, and what to do, if the service has another base path, or fails itself', async () => {
  const artifacts = artifactFolder();
  onTestFinished(artifacts.remove);
  const args = ['facts', '--port', '0', '--artifacts', artifacts.path, '--base-path', '/atproto'];
  const { url, port } = await startProgramInTest(args).listening();
  const findings = (publicUrl: string, at: number): Promise<Finding[]> => {
    const service = { host: '127.0.0.1', port: at, basePath: '' };
    return checkPublicUrl({ publicUrl, service, wait: (ms) => delay(ms), clock: Date.now });
  };
  const uncompared = (status: number, todo: string): Finding => {
    const found = `the responses could not be compared: the service itself responds with status ${status}`;
    return { check: 'public address', level: 'warn', found, todo };
  };
  expect(await findings(url, port)).toEqual([uncompared(404, 'correct --base-path')]);
  const failing = createServer(({ url: path = '' }, response) => {
    const isHealth = path === '/health';
    const error = { code: path.startsWith('/v1/doctor-') ? 'not_found' : 'internal_error' };
    response.writeHead(isHealth ? 200 : error.code === 'not_found' ? 404 : 500);
    response.end(JSON.stringify(isHealth ? { service: 'almanac-facts' } : { error }));
  });
  const { port: own } = await listenForTest(failing);
  const again = 'run this again; if it repeats, read the log of the facts service';
  expect(await findings(`http://127.0.0.1:${own}`, own)).toEqual([uncompared(500, again)]);
});

describe.skipIf(lacks('nginx'))('while the facts service runs, the doctor', () => {
  let artifacts: ReturnType<typeof artifactFolder>;
  let url = '';
  let port = 0;

  beforeEach(async () => {
    artifacts = artifactFolder();
    onTestFinished(artifacts.remove);
    ({ url, port } = await startProgramInTest(['facts', '--port', '0', '--artifacts', artifacts.path]).listening());
  });

  const hold = async (): Promise<void> => {
    artifacts.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    await expect.poll(async () => (await fetch(`${url}/v1/labels/overview`)).status).toBe(503);
  };
  const running = 'ok: passes responses and validators on (stop the facts service and run this again to test refusals)';

  it('compares it with the public address, and accepts the shipped configuration of nginx', async () => {
    const publicUrl = await startFactsProxy('nginx', port, []);
    expect(await checked(publicUrl, port)).toEqual([running]);
    const found = await checked(await startFactsProxy('nginx', port, [['gzip off;', 'gzip off; expires 1h;']]), port);
    expect(found).toEqual([
      'fail: the proxy changed Cache-Control from "public, max-age=60" to "max-age=3600" [no expires, no add_header Cache-Control]',
    ]);
    await hold();
    // The response in the cache of nginx has not expired yet.
    expect(await checked(publicUrl, port)).toEqual([
      'warn: the service refuses a fact of which the public address serves a response that has not expired yet',
    ]);
    const fresh = await startFactsProxy('nginx', port, []);
    expect(await checked(fresh, port)).toEqual([running]);
  });

  it('reports a cache that serves a response after its lifetime, whether or not the service refuses the fact', async () => {
    const cache = await startStaleCache(upstreamAt(url));
    const later = (minutes: number) => checked(cache.url, port, () => Date.now() + minutes * 60_000);
    expect(await later(0)).toEqual([running]);
    await hold();
    expect(await later(10)).toEqual([revives('the service refuses it')]);
    cache.servesStale = false;
    expect(await later(10)).toEqual([running]);
  });

  it('reports an address that another program responds to, or none', async () => {
    const other = createServer((_request, response) => response.end('<h1>welcome</h1>'));
    const { port: elsewhere } = await listenForTest(other);
    expect(await checked(`http://127.0.0.1:${elsewhere}`, port)).toEqual([
      'fail: responds itself to /health (200) or to an unknown path (200)',
    ]);
    const none = await freePort();
    expect(await checked(`http://127.0.0.1:${none}`, port)).toEqual([
      expect.stringMatching(/^fail: cannot be reached: /),
    ]);
  });

  it('is started by the command only with a public address', async () => {
    const data = folderInTest();
    (await takeDemoFolder(data)).release();
    const args = ['doctor', '--json', '--data', data, '--port', String(port)];
    const publicChecks = async (...more: string[]) => {
      const { stdout } = await runProgram([...args, ...more]);
      const { findings } = JSON.parse(stdout.join('\n')) as { findings: { check: string; level: string }[] };
      return findings.filter(({ check }) => check === 'public address').map(({ level }) => level);
    };
    expect([await publicChecks(), await publicChecks('--public-url', url)]).toEqual([[], ['ok']]);
  });
});
