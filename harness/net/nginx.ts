import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { root } from '../process/imports.ts';
import { startForeignInTest } from '../process/program-in-test.ts';
import { toolPath } from '../process/tools.ts';
import { until } from '../process/until.ts';
import { certificate, listenForTest } from './listen.ts';
import { freePort } from './ports.ts';

/** A response whose body is left encoded. */
export interface ProxyAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A running nginx with the configuration in `deploy/nginx`. */
export interface Nginx {
  /** Sends a request over TLS, as a client of the given host does. */
  ask(
    path: string,
    options?: { host?: string; method?: string; headers?: Record<string, string> },
  ): Promise<ProxyAnswer>;
  /** Sets nginx's clock to a number of seconds after the start. The clock advances only through this function. */
  ahead(seconds: number): void;
  /** Returns the lines that nginx has written to a log so far. */
  log(name: 'almanac-facts.log' | 'almanac-account.log' | 'almanac-error.log'): string[];
}

/** Environment variables of libfaketime, which nginx must pass to its workers. */
const faking = ['LD_PRELOAD', 'FAKETIME_TIMESTAMP_FILE', 'FAKETIME_NO_CACHE', 'FAKETIME_DONT_FAKE_MONOTONIC'];

const tls = fileURLToPath(new URL('../../test/fixtures/tls/', import.meta.url));

/** Local ports that replace the ports in the configuration. */
interface NginxPorts {
  readonly tls: number;
  readonly plain: number;
  readonly facts: number;
  readonly account: number;
  /**
   * Port of a server that returns the client and site keys of a request, as the rate limits see them. By default there
   * is no such server.
   */
  readonly clients?: number;
  /** If true, nginx serves expired responses in place of errors, as many configurations do, but not the deployed one. */
  readonly servesStale?: boolean;
  /** Rate that replaces the rate limit of one client of the facts, such as `1r/m`. */
  readonly factsRate?: string;
}

/**
 * Returns the configuration of a server that reads the client's address from a header. The server responds with the
 * keys of the rate limits.
 */
function whoAsks(port: number): string {
  return `server { listen 127.0.0.1:${port}; set_real_ip_from 127.0.0.1; real_ip_header X-Client;
    location / { return 200 "$almanac_client $almanac_site"; } }`;
}

/** Writes the configuration with its placeholders replaced, and a main configuration that runs without systemd. */
export function writeNginxConfig(ports: NginxPorts): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-nginx-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'cache'));
  const filled = readFileSync(join(root, 'deploy/nginx/almanac.conf'), 'utf8')
    .replaceAll(/ *listen \[::\]:.*\n/g, '')
    .replaceAll('listen 443 ', `listen 127.0.0.1:${ports.tls} `)
    .replaceAll('listen 80;', `listen 127.0.0.1:${ports.plain};`)
    .replaceAll('127.0.0.1:8400', `127.0.0.1:${ports.facts}`)
    .replaceAll('127.0.0.1:8401', `127.0.0.1:${ports.account}`)
    .replaceAll(/\/etc\/ssl\/almanac\/\w+\.fullchain\.pem/g, join(tls, 'localhost.cert.pem'))
    .replaceAll(/\/etc\/ssl\/almanac\/\w+\.key\.pem/g, join(tls, 'localhost.key.pem'))
    .replaceAll(
      'proxy_cache_use_stale off',
      `proxy_cache_use_stale ${ports.servesStale ? 'error timeout http_503' : 'off'}`,
    )
    .replaceAll('zone=almanac_facts:4m rate=20r/s', `zone=almanac_facts:4m rate=${ports.factsRate ?? '20r/s'}`)
    // The entries must outlive the advance of the clock.
    .replaceAll('inactive=2m', ports.servesStale ? 'inactive=1d' : 'inactive=2m')
    .replaceAll('/var/log/nginx', folder)
    .replaceAll('/var/lib/nginx/almanac', join(folder, 'cache'));
  writeFileSync(join(folder, 'almanac.conf'), filled);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${faking.map((name) => `env ${name};`).join(' ')}
daemon off; worker_processes 2; pid ${folder}/nginx.pid; error_log ${folder}/frame.log; ${user}
events { worker_connections 256; }
http { ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  include ${folder}/almanac.conf; ${ports.clients === undefined ? '' : whoAsks(ports.clients)} }
`,
  );
  return folder;
}

/** Starts nginx in front of a facts service, with a clock that the test controls. Stops nginx after the test. */
export async function startNginx(upstreams: {
  facts: number;
  account?: number;
  clients?: number;
  servesStale?: boolean;
  factsRate?: string;
}): Promise<Nginx> {
  const port = await freePort();
  const unused = await freePort();
  const folder = writeNginxConfig({ account: unused, ...upstreams, tls: port, plain: await freePort() });
  const clock = join(folder, 'clock');
  const startMs = Date.now();
  const ahead = (seconds: number): void => {
    const words = new Date(startMs + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
    writeFileSync(`${clock}.new`, words);
    renameSync(`${clock}.new`, clock);
  };
  ahead(0);
  const program = startForeignInTest(toolPath('nginx'), ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    env: {
      LD_PRELOAD: faketimeLibrary(),
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      TZ: 'UTC0',
    },
  });

  const ask: Nginx['ask'] = (path, { host = 'facts.example.org', method = 'GET', headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const asked = request({
        host: '127.0.0.1',
        port,
        path,
        method,
        servername: host,
        headers: { Host: host, ...headers },
        ca: certificate().cert,
        // Skip this check: the fixture certificate is valid for localhost, not for the requested host name.
        checkServerIdentity: () => undefined,
        agent: false,
      });
      asked.once('error', reject).once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      });
      asked.end();
    });

  await until('nginx answers', async () => {
    program.assertRuns();
    return ask('/up').then(
      () => true,
      () => false,
    );
  });
  return {
    ask,
    ahead,
    log: (name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean),
  };
}

function faketimeLibrary(): string {
  const found = readdirSync('/usr/lib', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    .find((path) => readable(path));
  if (found === undefined) throw new Error('libfaketime was not found');
  return found;
}

function readable(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

/** A cache that serves its last 200 response in place of each error, as Apache's `mod_cache` does by default. */
interface StaleCache {
  readonly url: string;
  /** If false, the cache passes each response on, as one without such a setting does. Default: true. */
  servesStale: boolean;
}

/** Sends one request to the service behind the cache. Returns a response with the headers of the service. */
export type Upstream = (
  path: string,
  headers: Record<string, string>,
) => Promise<{ status: number; headers: Record<string, string>; body: Buffer }>;

/** Upstream at a base address. */
export function upstreamAt(base: string): Upstream {
  return async (path, headers) => {
    const response = await fetch(base + path, { headers: { ...headers, 'Accept-Encoding': 'identity' } });
    const { connection: _c, 'keep-alive': _k, 'transfer-encoding': _t, ...kept } = Object.fromEntries(response.headers);
    return { status: response.status, headers: kept, body: Buffer.from(await response.arrayBuffer()) };
  };
}

/**
 * Starts a cache without a clock: it asks the service at every request, and on an error sends the last 200 response
 * with its headers of that time, or a 304 if the request has its validator. It never sends an `Age`. It stops after the
 * test.
 */
export async function startStaleCache(upstream: Upstream): Promise<StaleCache> {
  const stored = new Map<string, Awaited<ReturnType<Upstream>>>();
  const cache = { url: '', servesStale: true };
  const answer = async (path: string, tag: string | undefined) => {
    const response = await upstream(path, {}).catch(() => null);
    if (response?.status === 200) stored.set(path, response);
    const old = stored.get(path);
    const chosen = response?.status !== 200 && cache.servesStale && old ? old : response;
    if (chosen === null) return { status: 502, headers: {}, body: Buffer.from('<h1>Bad gateway</h1>') };
    const isKnown = chosen.status === 200 && tag !== undefined && chosen.headers.etag === tag;
    const { 'content-length': _length, ...headers } = chosen.headers;
    return isKnown ? { status: 304, headers, body: Buffer.alloc(0) } : chosen;
  };
  const server = createServer((request, response) => {
    void answer(request.url ?? '/', request.headers['if-none-match']).then(({ status, headers, body }) =>
      response.writeHead(status, headers).end(body),
    );
  });
  cache.url = `http://127.0.0.1:${(await listenForTest(server)).port}`;
  return cache;
}

/** Starts a server that passes each request to `upstream` and each response to the client. It stops after the test. */
export async function startRelay(upstream: Upstream): Promise<string> {
  const server = createServer((request, response) => {
    const tag = request.headers['if-none-match'];
    const given: Record<string, string> = tag === undefined ? {} : { 'If-None-Match': tag };
    void upstream(request.url ?? '/', given).then(({ status, headers, body }) =>
      response.writeHead(status, headers).end(body),
    );
  });
  return `http://127.0.0.1:${(await listenForTest(server)).port}`;
}
