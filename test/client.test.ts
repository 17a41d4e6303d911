import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactNames } from '../src/artifact/write.ts';
import { createFactsClient } from '../src/client/index.ts';
import { artifactFolder, youngArtifact } from './support/artifacts.ts';
import { openApi } from './support/openapi.ts';
import { startProgram } from './support/program.ts';

/** The client against the running program, with a clock of its own in the client that goes only where it is put. */
async function station(args: readonly string[] = []) {
  const folder = artifactFolder();
  onTestFinished(folder.remove);
  const program = startProgram(['facts', '--port', '0', '--artifacts', folder.path, '--access-log', ...args]);
  const { url } = await program.listening();
  let now = Date.now();
  const client = createFactsClient(url, { now: () => now });
  return {
    client,
    folder,
    url,
    /** Lets time pass for the client. */
    pass: (seconds: number): void => {
      now += seconds * 1000;
    },
    /** Every request that the program answered, in order, once it has stopped. */
    async asked(): Promise<string[]> {
      program.child.kill('SIGTERM');
      await program.ended();
      return program.log().flatMap(({ msg, route, status }) => (msg === 'answered' ? [`${route} ${status}`] : []));
    },
  };
}

const overview = '/v1/labels/overview';

describe('the client', () => {
  it('gives each fact as the contract describes it, under a base path too', async () => {
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

  it('asks nothing within max-age, then sends the validator back and keeps the reading with its own times', async () => {
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

  it('does not trust a clock that was set back', async () => {
    const { client, pass, asked } = await station();
    await client.labelsOverview();
    pass(-1000);
    expect((await client.labelsOverview()).via).toBe('revalidated');
    expect(await asked()).toEqual([`${overview} 200`, `${overview} 304`]);
  });

  it('takes a changed artifact', async () => {
    const { client, folder, pass } = await station();
    const { value: before } = await client.labelsOverview();
    const after = Date.now() + 1000;
    folder.put(artifactNames.labels, youngArtifact('recent', after));
    pass(60);
    const { value, via } = await client.labelsOverview();
    expect([via, value.generated_at]).toEqual(['fetched', new Date(after).toISOString()]);
    expect(before.generated_at).not.toBe(value.generated_at);
  });

  it('gives a refusal as a refusal, with its freshness, and nothing from before', async () => {
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

  it('takes an older reading after a refusal: the newer one is over', async () => {
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

  it('lets a reading that is dated ahead of its service stand against none', async () => {
    const { client, folder, pass } = await station();
    const now = Date.now();
    folder.put(artifactNames.labels, youngArtifact('recent', now + 200_000));
    await client.labelsOverview();
    folder.put(artifactNames.labels, youngArtifact('recent', now));
    pass(60);
    expect((await client.labelsOverview()).via).toBe('fetched');
  });

  it('gives a refusal without a freshness where no artifact was read', async () => {
    const { client, folder } = await station();
    folder.put(artifactNames.weather, {});
    await expect(client.weatherMetrics()).rejects.toMatchObject({ code: 'source_unavailable', freshness: null });
    expect((await client.labelsOverview()).via).toBe('fetched');
  });

  it('keeps the newer reading when an older one is given, and asks again next time', async () => {
    const { client, folder, pass } = await station();
    const newest = Date.now();
    folder.put(artifactNames.labels, youngArtifact('recent', newest));
    const first = await client.labelsOverview();
    folder.put(artifactNames.labels, youngArtifact('recent', newest - 120_000));
    pass(60);
    expect(await client.labelsOverview()).toEqual({ ...first, via: 'kept_newer' });
    expect(await client.labelsOverview()).toEqual({ ...first, via: 'kept_newer' });
    // What is still given after a quarter of an hour was put there on purpose.
    pass(15 * 60);
    const { value, via } = await client.labelsOverview();
    expect([via, value.generated_at]).toEqual(['fetched', new Date(newest - 120_000).toISOString()]);
  });

  it('takes an earlier reading of another series: times of two epochs do not compare', async () => {
    const { client, folder, pass } = await station();
    const newest = Date.now();
    folder.put(artifactNames.weather, youngArtifact('weather', newest));
    await client.weatherMetrics();
    folder.put(artifactNames.weather, youngArtifact('weatherwatch', newest - 120_000));
    pass(60);
    expect((await client.weatherMetrics()).via).toBe('fetched');
  });

  it('gives a network failure as one, never the reading from before', async () => {
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

  it('shares one request among callers that ask at once', async () => {
    const { client, asked } = await station();
    const readings = await Promise.all([client.labelsOverview(), client.labelsOverview(), client.weatherMetrics()]);
    expect(readings[0]).toEqual(readings[1]);
    expect((await asked()).sort()).toEqual([`${overview} 200`, '/v1/weather/metrics 200']);
  });

  it('says what another service answers at that address', async () => {
    const { url } = await station();
    const lost = createFactsClient(`${url}/elsewhere/`);
    await expect(lost.instruments()).rejects.toMatchObject({ name: 'FactsError', status: 404, code: 'not_found' });
  });

  it.each(['ftp://a.example', 'http://user:secret@a.example', 'no address'])('refuses the base address %s', (base) => {
    expect(() => createFactsClient(base)).toThrow(TypeError);
  });
});

describe('what it stands on', () => {
  it('is one file that imports nothing', async () => {
    const { readFileSync } = await import('node:fs');
    const bundle = readFileSync(join(import.meta.dirname, '..', 'dist', 'client.js'), 'utf8');
    expect(bundle).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(|\bprocess\b|node:/m);
    expect(bundle.length).toBeLessThan(16 * 1024);
  });
});
