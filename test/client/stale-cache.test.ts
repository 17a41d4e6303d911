import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { startNginx, startRelay, startStaleCache, type Upstream, upstreamAt } from '../../harness/net/nginx.ts';
import { outcomesInPython, runsPython } from '../../harness/packages/python.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks } from '../../harness/process/tools.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { createFactsClient, FactsError, StaleCacheError } from '../../src/client/index.ts';
import { paths } from '../../src/contract/identifiers.ts';

/** A facts service, and a function that makes it refuse every fact with an artifact. */
async function service() {
  const folder = artifactFolder();
  onTestFinished(folder.remove);
  const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path]).listening();
  return {
    url,
    folder,
    refuse(): void {
      folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
      folder.put(artifactNames.weather, {});
    },
  };
}

/** A client whose clock the test advances. */
function clientOf(url: string, ahead = 0) {
  const startMs = Date.now();
  let offset = ahead * 1000;
  const client = createFactsClient(url, { now: () => startMs + offset });
  return {
    client,
    pass: (seconds: number) => {
      offset += seconds * 1000;
    },
  };
}

type Method = 'labelsOverview' | 'weatherConditions' | 'weatherMetrics' | 'instruments';
const facts: readonly Method[] = ['labelsOverview', 'weatherConditions', 'weatherMetrics'];

async function outcome(client: ReturnType<typeof createFactsClient>, method: Method): Promise<unknown> {
  return client[method]().then(
    ({ via }) => via,
    (error: unknown) => {
      if (error instanceof StaleCacheError) return error.code;
      return error instanceof FactsError ? error.code : String(error);
    },
  );
}

const served = facts.map(() => 'fetched');
const stale = facts.map(() => 'served_by_stale_cache');

describe.skipIf(lacks('nginx', 'faketime'))('behind nginx that serves stale responses in place of refusals', () => {
  it('no client presents a refused fact as current, and each does again once the service serves it', async () => {
    const { url, refuse, folder } = await service();
    const nginx = await startNginx({ facts: Number(new URL(url).port), servesStale: true });
    const through: Upstream = async (path, headers) => {
      const { status, headers: received, body } = await nginx.ask(path, { headers });
      const { connection: _c, 'transfer-encoding': _t, ...kept } = received as Record<string, string>;
      return { status, headers: kept, body };
    };
    const relay = await startRelay(through);
    const { client, pass } = clientOf(relay);
    for (const method of facts) expect(await outcome(client, method)).toBe('fetched');
    refuse();
    nginx.ahead(3600);
    pass(3600);
    for (const method of facts) {
      // nginx itself still serves the response of an hour ago.
      expect((await through(paths[method], {})).status).toBe(200);
      expect(await outcome(client, method)).toBe('served_by_stale_cache');
      expect(await outcome(clientOf(relay, 3600).client, method)).toBe('served_by_stale_cache');
    }
    if (runsPython) expect(await outcomesInPython(relay, 3600)).toEqual(stale);
    folder.put(artifactNames.labels, youngArtifact('recent'));
    folder.put(artifactNames.weather, youngArtifact('weather'));
    const direct = clientOf(url);
    for (const method of facts) expect(await outcome(direct.client, method)).toBe('fetched');
  });
});

describe('behind a cache that serves its last response in place of each error', () => {
  it('both clients read current facts', async () => {
    const { url } = await service();
    const cache = await startStaleCache(upstreamAt(url));
    const { client } = clientOf(cache.url);
    for (const method of facts) expect(await outcome(client, method)).toBe('fetched');
    expect(await outcome(client, 'instruments')).toBe('fetched');
    if (runsPython) expect(await outcomesInPython(cache.url, 0)).toEqual(served);
  });

  it('a client rejects the response that the service built before it refused the fact, however young it is', async () => {
    const { url, refuse } = await service();
    const cache = await startStaleCache(upstreamAt(url));
    const { client, pass } = clientOf(cache.url);
    for (const method of facts) expect(await outcome(client, method)).toBe('fetched');
    refuse();
    cache.servesStale = false;
    pass(60);
    for (const method of facts) expect(await outcome(client, method)).toMatch(/^source_(held|unavailable)$/);
    cache.servesStale = true;
    for (const method of facts) expect(await outcome(client, method)).toBe('served_by_stale_cache');
  });

  it('a kept reading expires, although the cache confirms it with 304', async () => {
    const { url, refuse } = await service();
    const cache = await startStaleCache(upstreamAt(url));
    const { client, pass } = clientOf(cache.url);
    for (const method of facts) expect(await outcome(client, method)).toBe('fetched');
    refuse();
    pass(60);
    // The cache may serve an expired response for as long as a cache may keep it.
    for (const method of facts) expect(await outcome(client, method)).toBe('revalidated');
    pass(130);
    for (const method of facts) expect(await outcome(client, method)).toBe('served_by_stale_cache');
    for (const method of facts) expect(await outcome(client, method)).toBe('served_by_stale_cache');
  });

  it('the index and a service that cannot be reached are treated alike', async () => {
    const program = await service();
    let isUp = true;
    const upstream = upstreamAt(program.url);
    const cache = await startStaleCache((path, headers) =>
      isUp ? upstream(path, headers) : Promise.reject(new Error('down')),
    );
    const { client, pass } = clientOf(cache.url);
    expect(await outcome(client, 'instruments')).toBe('fetched');
    isUp = false;
    pass(181);
    expect(await outcome(client, 'instruments')).toBe('served_by_stale_cache');
  });
});
