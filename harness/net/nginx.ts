import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { folderInTest } from '../process/folder.ts';
import { startForeignInTest } from '../process/program-in-test.ts';
import { until } from '../process/until.ts';
import { certificate, listenForTest } from './listen.ts';
import { freePort } from './ports.ts';
import { writeNginxConfig } from './proxy-config.ts';

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
  const folder = folderInTest();
  const ports = { account: unused, ...upstreams, tls: port, plain: await freePort() };
  const { command, args } = writeNginxConfig(folder, ports);
  const clock = join(folder, 'clock');
  const startMs = Date.now();
  const ahead = (seconds: number): void => {
    const words = new Date(startMs + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
    writeFileSync(`${clock}.new`, words);
    renameSync(`${clock}.new`, clock);
  };
  ahead(0);
  const program = startForeignInTest(command, args, {
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
