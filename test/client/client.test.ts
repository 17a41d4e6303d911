import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { openApi } from '../../harness/artifacts/openapi.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { createFactsClient } from '../../src/client/index.ts';

/** Runs the client against the real program. The test controls the client's clock. */
async function station(args: readonly string[] = []) {
  const folder = artifactFolder();
  onTestFinished(folder.remove);
  const program = startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path, '--access-log', ...args]);
  const { url } = await program.listening();
  let now = Date.now();
  let passed = 0;
  const client = createFactsClient(url, {
    now: () => now,
    // Advance the service's clock with the client's: otherwise its responses would be as old as one from a cache.
    fetch: async (input, init) => shifted(await fetch(input, init), passed),
  });
  return {
    client,
    folder,
    url,
    /** Advances the client's clock. */
    pass: (seconds: number): void => {
      now += seconds * 1000;
      passed += seconds * 1000;
    },
    /** Returns every request that the program responded to, in order. The program must have stopped. */
    async asked(): Promise<string[]> {
      program.child.kill('SIGTERM');
      await program.ended();
      return program.log().flatMap(({ msg, route, status }) => (msg === 'answered' ? [`${route} ${status}`] : []));
    },
  };
}

/** Returns a response as the service would send it after a number of milliseconds, with an artifact of the same age. */
async function shifted(response: Response, milliseconds: number): Promise<Response> {
  const { status } = response;
  const headers = new Headers(response.headers);
  const later = (at: string): string => new Date(Date.parse(at) + milliseconds).toISOString();
  const body = await response.text();
  const aged = body.replace(/("retrieved_at":")([^"]+)/, (_all, name: string, at: string) => name + later(at));
  headers.set('Date', new Date(Date.parse(headers.get('Date') ?? '') + milliseconds).toUTCString());
  return new Response(aged || null, { status, headers });
}

const overview = '/v1/labels/overview';

describe('the client', () => {
  it('returns each fact below a base path as the contract describes it', async () => {
    const { client, asked } = await station(['--base-path', '/atproto']);
    const readings = [
      ['/v1/instruments', await client.instruments()],
      ['/v1/labels/overview', await client.labelsOverview()],
      ['/v1/weather/conditions', await client.weatherConditions()],
      ['/v1/weather/metrics', await client.weatherMetrics()],
    ] as const;
    for (const [path, { value, via }] of readings) {
      expect(openApi.faults('get', path, 200, value), path).toEqual([]);
      expect(via).toBe('fetched');
    }
    expect(await asked()).toHaveLength(4);
  });

  it('returns an index whose endpoints respond when they are appended to a base address with a path', async () => {
    const { client, url } = await station(['--base-path', '/atproto']);
    const { instruments } = (await client.instruments()).value;
    expect(url).toMatch(/\/atproto$/);
    const endpoints = instruments.flatMap((instrument) => instrument.endpoints);
    expect(endpoints.length).toBeGreaterThan(2);
    for (const endpoint of endpoints) expect([endpoint, (await fetch(url + endpoint)).status]).toEqual([endpoint, 200]);
  });

  it('sends no request within max-age, and afterwards revalidates the reading without changing its value', async () => {
    const { client, pass, asked } = await station();
    const first = await client.labelsOverview();
    pass(59.9);
    const kept = await client.labelsOverview();
    expect(kept).toEqual({ ...first, via: 'kept' });
    pass(0.1);
    const revalidated = await client.labelsOverview();
    expect(revalidated).toEqual({ ...first, via: 'revalidated', confirmedAt: revalidated.confirmedAt });
    expect(revalidated.confirmedAt - first.confirmedAt).toBeGreaterThanOrEqual(60_000);
    pass(59.9);
    expect((await client.labelsOverview()).via).toBe('kept');
    expect(await asked()).toEqual([`${overview} 200`, `${overview} 304`]);
  });

  it('requests a fact again if the clock was set back', async () => {
    const { client, pass, asked } = await station();
    await client.labelsOverview();
    pass(-1000);
    expect((await client.labelsOverview()).via).toBe('revalidated');
    expect(await asked()).toEqual([`${overview} 200`, `${overview} 304`]);
  });

  it('returns the new facts of a changed artifact', async () => {
    const { client, folder, pass } = await station();
    const { value: before } = await client.labelsOverview();
    const after = Date.now() + 1000;
    folder.put(artifactNames.labels, youngArtifact('recent', after));
    pass(60);
    const { value, via } = await client.labelsOverview();
    expect([via, value.generated_at]).toEqual(['fetched', new Date(after).toISOString()]);
    expect(before.generated_at).not.toBe(value.generated_at);
  });

  it('reports a refusal with its freshness, and never falls back to the earlier reading', async () => {
    const { client, folder, pass } = await station();
    await client.labelsOverview();
    folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    pass(60);
    for (const _time of [1, 2]) {
      await expect(client.labelsOverview()).rejects.toMatchObject({
        name: 'FactsError',
        kind: 'refused',
        path: overview,
        status: 503,
        code: 'source_held',
        message: expect.stringContaining('holding this reading back'),
        freshness: { state: 'held', max_age_seconds: 7200 },
        retryAfterSeconds: null,
      });
    }
    folder.put(artifactNames.labels, youngArtifact('recent'));
    expect((await client.labelsOverview()).via).toBe('fetched');
  });

  it('accepts an older reading after a refusal, because the refusal invalidates the newer reading', async () => {
    const { client, folder, pass } = await station();
    const newest = Date.now();
    folder.put(artifactNames.labels, youngArtifact('recent', newest));
    await client.labelsOverview();
    folder.put(artifactNames.labels, { ...youngArtifact('recent', newest), hold: true });
    pass(60);
    await expect(client.labelsOverview()).rejects.toMatchObject({ code: 'source_held' });
    folder.put(artifactNames.labels, youngArtifact('recent', newest - 120_000));
    const { value, via } = await client.labelsOverview();
    expect([via, value.generated_at]).toEqual(['fetched', new Date(newest - 120_000).toISOString()]);
  });

  it('replaces a reading that is dated ahead of the service’s clock with an older reading', async () => {
    const { client, folder, pass } = await station();
    const now = Date.now();
    folder.put(artifactNames.labels, youngArtifact('recent', now + 200_000));
    await client.labelsOverview();
    folder.put(artifactNames.labels, youngArtifact('recent', now));
    pass(60);
    expect((await client.labelsOverview()).via).toBe('fetched');
  });

  it('reports a refusal without freshness if no artifact was read', async () => {
    const { client, folder } = await station();
    folder.put(artifactNames.weather, {});
    await expect(client.weatherMetrics()).rejects.toMatchObject({ code: 'source_unavailable', freshness: null });
    expect((await client.labelsOverview()).via).toBe('fetched');
  });

  it('keeps the newer reading if the service sends an older reading, and requests the fact again on the next call', async () => {
    const { client, folder, pass } = await station();
    const newest = Date.now();
    folder.put(artifactNames.labels, youngArtifact('recent', newest));
    const first = await client.labelsOverview();
    folder.put(artifactNames.labels, youngArtifact('recent', newest - 120_000));
    pass(60);
    expect(await client.labelsOverview()).toEqual({ ...first, via: 'kept_newer' });
    expect(await client.labelsOverview()).toEqual({ ...first, via: 'kept_newer' });
    // Accept the older reading if the service still sends it after 15 minutes, because the service then published it
    // deliberately.
    pass(15 * 60);
    const { value, via } = await client.labelsOverview();
    expect([via, value.generated_at]).toEqual(['fetched', new Date(newest - 120_000).toISOString()]);
  });

  it('accepts an older reading of another series, because the times of two epochs are not comparable', async () => {
    const { client, folder, pass } = await station();
    const newest = Date.now();
    folder.put(artifactNames.weather, youngArtifact('weather', newest));
    await client.weatherMetrics();
    folder.put(artifactNames.weather, youngArtifact('weatherwatch', newest - 120_000));
    pass(60);
    expect((await client.weatherMetrics()).via).toBe('fetched');
  });

  it('reports a network failure, and never falls back to the earlier reading', async () => {
    const { client, pass, asked } = await station();
    await client.labelsOverview();
    await asked();
    pass(60);
    await expect(client.labelsOverview()).rejects.toMatchObject({
      name: 'NetworkError',
      kind: 'network',
      reason: 'unreachable',
      path: overview,
    });
  });

  it('shares one request among concurrent callers', async () => {
    const { client, asked } = await station();
    const readings = await Promise.all([client.labelsOverview(), client.labelsOverview(), client.weatherMetrics()]);
    expect(readings[0]).toEqual(readings[1]);
    expect((await asked()).sort()).toEqual([`${overview} 200`, '/v1/weather/metrics 200']);
  });

  it('reports the error not_found if the path of the base address is unknown', async () => {
    const { url } = await station();
    const lost = createFactsClient(`${url}/elsewhere/`);
    await expect(lost.instruments()).rejects.toMatchObject({ name: 'FactsError', status: 404, code: 'not_found' });
  });

  it.each(['ftp://a.example', 'http://user:secret@a.example', 'no address', '127.0.0.1:8400'])(
    'rejects the base address %s',
    (base) => {
      expect(() => createFactsClient(base)).toThrow(
        new TypeError('the base URL must be an http or https URL without credentials, such as https://facts.example'),
      );
    },
  );
});

describe('the module of the client', () => {
  it('is one file without imports, smaller than 16 KiB', async () => {
    const { readFileSync } = await import('node:fs');
    const bundle = readFileSync(join(import.meta.dirname, '..', '..', 'dist', 'client.js'), 'utf8');
    expect(bundle).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(|\bprocess\b|node:/m);
    expect(bundle.length).toBeLessThan(16 * 1024);
  });
});
