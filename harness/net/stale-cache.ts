import { createServer } from 'node:http';
import { listenForTest } from './listen.ts';

/** A cache that serves its last 200 response in place of each error, as Apache's `mod_cache` does by default. */
export interface StaleCache {
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
