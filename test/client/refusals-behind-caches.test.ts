import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { startFactsProxy } from '../../harness/net/facts-proxy.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { upstreamAt } from '../../harness/net/nginx.ts';
import { apacheCache, proxies, startProxy } from '../../harness/net/other-proxies.ts';
import { outcomesInPython, runsPython } from '../../harness/packages/python.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks, type Tool } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { createFactsClient, FactsError, StaleCacheError } from '../../src/client/index.ts';
import { paths } from '../../src/contract/identifiers.ts';

/**
 * The clients behind real shared caches that serve expired responses, and on top of libraries with a cache of their own.
 * A relay in front of the service shortens the lifetime of each response to a second, so that the caches need not be
 * waited for; the clients' own clocks advance by more than the lifetime that the contract states.
 */

/** Time after which no client may present a refused fact, in seconds: a minute in the service, one in caches, one of tolerance. */
const passed = 181;
const facts = ['labelsOverview', 'weatherConditions', 'weatherMetrics'] as const;

/** A service that refuses every fact on request, behind a relay. Counts the requests since the refusal. */
async function service() {
  const folder = artifactFolder();
  onTestFinished(folder.remove);
  const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path]).listening();
  const upstream = upstreamAt(url);
  let asked: Map<string, number> | null = null;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const tag = request.headers['if-none-match'];
    void upstream(path, tag === undefined ? {} : { 'If-None-Match': tag }).then(({ status, headers, body }) => {
      asked?.set(path, (asked.get(path) ?? 0) + 1);
      const lifetime = headers['cache-control']?.replace('max-age=60', 'max-age=1');
      response.writeHead(status, { ...headers, ...(lifetime && { 'cache-control': lifetime }) }).end(body);
    });
  });
  const { port } = await listenForTest(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    refuse(): void {
      folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
      folder.put(artifactNames.weather, {});
      asked = new Map();
    },
    /** Waits until a cache has asked for each fact since the refusal, because the response that it has is expired. */
    async refused(request: (path: string) => Promise<unknown>): Promise<void> {
      for (const method of facts) {
        await until(`the cache asks for ${paths[method]}`, async () => {
          await request(paths[method]);
          return (asked?.get(paths[method]) ?? 0) > 0;
        });
      }
    },
  };
}

/** Creates a client whose clock the test advances, and a function that returns the outcomes of all facts. */
function clientOf(url: string, fetch?: typeof globalThis.fetch) {
  let ahead = 0;
  const now = (): number => Date.now() + ahead * 1000;
  const client = createFactsClient(url, { now, ...(fetch && { fetch }) });
  const outcome = (method: (typeof facts)[number]): Promise<string> =>
    client[method]().then(
      ({ via }) => via,
      (error: unknown) => {
        if (error instanceof StaleCacheError || error instanceof FactsError) return error.code;
        return String(error);
      },
    );
  return {
    outcomes: async (): Promise<string[]> => {
      const all: string[] = [];
      for (const method of facts) all.push(await outcome(method));
      return all;
    },
    pass: (seconds: number) => {
      ahead += seconds;
    },
  };
}

/** Outcomes that present no fact. */
const isRefused = /^(served_by_stale_cache|source_held|source_unavailable)$/;

/** The rule of Varnish's configuration for responses of the service, and the usual rule that serves expired ones. */
const noGrace = 'set beresp.grace = 0s;\n}\n\nsub vcl_backend_error';
const graceOnErrors = `if (beresp.status >= 500 && bereq.is_bgfetch) { return (abandon); }\n  ${noGrace.replace('0s', '1h')}`;

const caches: readonly (readonly [tool: Tool, name: string, start: (port: number) => Promise<string>])[] = [
  [
    'nginx',
    'nginx with proxy_cache_use_stale',
    (port) =>
      startFactsProxy('nginx', port, [
        ['proxy_cache_use_stale off', 'proxy_cache_use_stale error timeout http_500 http_503'],
        // On a fast machine, the requests of this test would exceed the limit of one client.
        ['zone=almanac_facts:4m rate=20r/s', 'zone=almanac_facts:4m rate=900r/s'],
      ]),
  ],
  [
    'apache',
    'Apache with the defaults of mod_cache',
    (port) => startProxy(proxies.apache, port, (text) => text.replace('ProxyPreserveHost On', apacheCache)),
  ],
  [
    'varnish',
    'Varnish with an hour of grace that abandons errors',
    (port) => startProxy(proxies.varnish, port, (text) => text.replace(noGrace, graceOnErrors)),
  ],
];

describe.each(caches)('%s: %s', (tool, _, start) => {
  it.skipIf(lacks(tool))(
    'serves a refused fact, but no client presents it as current, however long the client has run',
    async () => {
      const { port, refuse, refused } = await service();
      const url = await start(port);
      const request = async (path: string): Promise<number> => {
        const response = await fetch(url + path);
        await response.body?.cancel();
        return response.status;
      };
      const running = clientOf(url);
      expect(await running.outcomes()).toEqual(['fetched', 'fetched', 'fetched']);
      refuse();
      await refused(request);
      expect(await Promise.all(facts.map((method) => request(paths[method])))).toEqual([200, 200, 200]);
      running.pass(passed);
      const started = clientOf(url);
      started.pass(passed);
      for (const client of [running, started, running, started]) {
        for (const outcome of await client.outcomes()) expect(outcome).toMatch(isRefused);
      }
      if (!runsPython) return;
      for (const outcome of await outcomesInPython(url, passed)) expect(outcome).toMatch(isRefused);
    },
  );
});

type Fetch = typeof globalThis.fetch;
const folder = join(root, 'harness/client-caches');
const names = ['undici', 'make-fetch-happen', 'got', 'axios-cache-interceptor'] as const;

describe('the TypeScript client on top of a library with a cache', () => {
  let libraries: Readonly<Record<(typeof names)[number], () => Fetch>>;

  // The packages are not part of the project: the first run installs them from the lock file.
  beforeAll(async () => {
    const installed = statSync(join(folder, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
    if (installed === undefined || installed.mtimeMs < statSync(join(folder, 'package-lock.json')).mtimeMs)
      await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    ({ libraries } = (await import(join(folder, 'libraries.mjs'))) as { libraries: typeof libraries });
  });

  it.each(names)('%s presents no refused fact as current', async (name) => {
    const { url, refuse, refused } = await service();
    const fetch = libraries[name]();
    const { outcomes, pass } = clientOf(url, fetch);
    expect(await outcomes()).toEqual(['fetched', 'fetched', 'fetched']);
    refuse();
    await refused((path) => fetch(url + path, { headers: { Accept: 'application/json' } }));
    pass(passed);
    for (const outcome of [...(await outcomes()), ...(await outcomes())]) expect(outcome).toMatch(isRefused);
  });
});
