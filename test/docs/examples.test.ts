import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { artifactFolderInTest, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import type { ArtifactFixture } from '../../harness/artifacts/fixtures.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import type { LabelsOverview, WeatherMetricsEnvelope } from '../../src/client/index.ts';

/** Runs the examples against the real program. An example prints the same output in every language. */

const missing = ['curl', 'jq', 'bash', 'python3'].filter(
  (tool) => !(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, tool))),
);
const languages = {
  TypeScript: [process.execPath, 'ts', '-'],
  Python: ['python3', 'py', '_'],
  shell: ['bash', 'sh', '-'],
} as const;
const named = Object.keys(languages) as (keyof typeof languages)[];

function example(language: keyof typeof languages, name: string, url: string) {
  const [command, ending, hyphen] = languages[language];
  const file = join(root, 'examples', `${name.replace('-', hyphen)}.${ending}`);
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(command, [file, url], { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

async function serving(labels: ArtifactFixture = 'recent', weather: ArtifactFixture = 'weather') {
  const folder = artifactFolderInTest();
  writeFileSync(join(folder, artifactNames.labels), JSON.stringify(youngArtifact(labels)));
  writeFileSync(join(folder, artifactNames.weather), JSON.stringify(youngArtifact(weather)));
  const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
  const fact = async (path: string): Promise<unknown> => (await fetch(url + path)).json();
  return { url, folder, fact };
}

/** Serves facts that the service built a number of seconds ago, as a cache does, and whose artifacts are a minute old. */
async function servingAged(seconds: number): Promise<string> {
  const { fact } = await serving();
  const server = createServer((request, response) => {
    void fact(request.url ?? '/').then((value) => {
      const body = value as WeatherMetricsEnvelope;
      const retrieved_at = new Date(Date.now() - seconds * 1000).toISOString();
      const freshness = { ...body.freshness, age_seconds: 60, max_age_seconds: 180 };
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' });
      response.end(JSON.stringify({ ...body, retrieved_at, age_seconds: 60, freshness }));
    });
  });
  const { port } = await listenForTest(server);
  return `http://127.0.0.1:${port}`;
}

/** Returns the lines that state what a fact does not measure. */
function notMeasured({ does_not_measure: things = [] }: { readonly does_not_measure?: readonly string[] }): string[] {
  expect(things.length).toBeGreaterThan(0);
  return things.map((thing) => `does not measure\t${thing}`);
}

// A missing tool is an error in CI, and a reason to skip elsewhere.
describe.skipIf(missing.length > 0 && process.env.CI === undefined)('the examples', () => {
  it.each(named)('describe the activity of the network (%s)', async (language) => {
    const { url, fact } = await serving();
    const { facts, caveats, provenance } = (await fact('/v1/weather/metrics')) as WeatherMetricsEnvelope;
    const { window, total_events, collections } = facts;
    const { code, stdout, stderr } = await example(language, 'network-activity', url);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'origin\tlive',
      'currency\tcurrent',
      `window\t${window.start}\t${window.end}`,
      `observed\t${window.observed_seconds} of ${window.span_seconds} seconds`,
      `all events\t${total_events.total}\t${total_events.mean_rate_per_s} a second`,
      ...Object.entries(collections).map(([name, metrics]) =>
        metrics ? `${name}\t${metrics.total}\t${metrics.mean_rate_per_s} a second` : `${name}\tnot observed`,
      ),
      ...caveats.map((caveat) => `caveat\t${caveat}`),
      ...notMeasured(provenance),
    ]);
  });

  it.each(named)('do not call a fact current that is dated a day ahead (%s)', async (language) => {
    const { url, folder } = await serving();
    const ahead = { ...youngArtifact('weather'), generated_at: new Date(Date.now() + 86_400_000).toISOString() };
    writeFileSync(join(folder, artifactNames.weather), JSON.stringify(ahead));
    await until('the service has read the artifact', async () => {
      const { generated_at } = (await (await fetch(`${url}/v1/weather/metrics`)).json()) as { generated_at: string };
      return generated_at === ahead.generated_at;
    });
    const { stdout } = await example(language, 'network-activity', url);
    expect(stdout.split('\n')[1]).toBe('currency\tnot_said');
  });

  it.each(named)('count the time since the service built a response (%s)', async (language) => {
    const url = await servingAged(110);
    const { code, stdout, stderr } = await example(language, 'network-activity', url);
    expect([code, stderr, stdout.split('\n')[1]]).toEqual([0, '', 'currency\told']);
  });

  it.each(named)('describe the activity of labelers (%s)', async (language) => {
    const { url, fact } = await serving();
    const { facts, freshness, caveats, provenance } = (await fact('/v1/labels/overview')) as LabelsOverview;
    if (!('counts' in facts)) throw new Error('the fixture is not a recent overview');
    const { coverage, counts } = facts;
    const { code, stdout, stderr } = await example(language, 'labelers', url);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'origin\tlive',
      `freshness\t${freshness.state}`,
      `coverage\tgapped\t${coverage.observed_days} of 30 days`,
      `gaps\t${coverage.gaps.length}`,
      `sources\t${coverage.sources.established} of ${coverage.sources.enrolled} established`,
      `events in 24 hours\t${counts.events_24h}`,
      `events in 7 days\t${counts.events_7d}`,
      `events in the window\t${counts.events_window}`,
      `labelers active in 7 days\t${counts.labelers_active_7d}`,
      ...facts.top_labelers_7d.map(({ labeler_did, count }) => `${labeler_did}\t${count}`),
      ...caveats.map((caveat) => `caveat\t${caveat}`),
      ...notMeasured(provenance),
    ]);
  });

  it.each(['network-activity', 'labelers'])(
    'print the same output for the legacy producers in every language (%s)',
    async (name) => {
      const { url } = await serving('legacy', 'weatherwatch');
      const [first, ...others] = await Promise.all(named.map((language) => example(language, name, url)));
      expect(first?.stdout).toMatch(/^origin\tnot stated\n/);
      for (const other of others) expect(other).toEqual(first);
    },
  );

  it.each(named.flatMap((language) => ['network-activity', 'labelers'].map((name) => [language, name] as const)))(
    'report a refused fact without showing a number (%s, %s)',
    async (language, name) => {
      const { url, folder, fact } = await serving();
      rmSync(join(folder, artifactNames.labels));
      rmSync(join(folder, artifactNames.weather));
      const refused = (await fact('/v1/labels/overview')) as { error: { message: string } };
      expect(await example(language, name, url)).toEqual({
        code: 3,
        stdout: '',
        stderr: `refused\t503 source_unavailable\t${refused.error.message}\n`,
      });
    },
  );

  const all = named.flatMap((language) => ['network-activity', 'labelers'].map((name) => [language, name] as const));

  it.each(all)('report in one line that a cache repeats an expired response (%s, %s)', async (language, name) => {
    const url = await servingAged(3600);
    const { code, stdout, stderr } = await example(language, name, url);
    expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [expect.stringMatching(/^no usable answer from .*36\d\d s (?:ago|old)/)],
    ]);
  });

  it.each(named)('report in one line that the service has refused a label fact since (%s)', async (language) => {
    const { fact } = await serving();
    const body = (await fact('/v1/labels/overview')) as LabelsOverview;
    const { collection_max_age_seconds: limit } = body.freshness;
    const server = createServer((_request, response) => {
      // Current when the service built it, and 30 s more than a minute too old now.
      const freshness = { ...body.freshness, collection_age_seconds: limit - 10 };
      const retrieved_at = new Date(Date.now() - 100_000).toISOString();
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' });
      response.end(JSON.stringify({ ...body, retrieved_at, freshness }));
    });
    const { port } = await listenForTest(server);
    const { code, stdout, stderr } = await example(language, 'labelers', `http://127.0.0.1:${port}`);
    expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [
        expect.stringMatching(
          new RegExp(`^no usable answer from .* is ${String(limit).slice(0, -2)}\\d\\d s old, but .* after ${limit} s`),
        ),
      ],
    ]);
  });

  it.each(all)('report in one line that a response has another contract (%s, %s)', async (language, name) => {
    const { fact } = await serving();
    const server = createServer((request, response) => {
      void fact(request.url ?? '/').then((value) => {
        const body = value as WeatherMetricsEnvelope;
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ ...body, contract: body.contract.replace(/v1$/, 'v2') }));
      });
    });
    const { port } = await listenForTest(server);
    const { code, stdout, stderr } = await example(language, name, `http://127.0.0.1:${port}`);
    expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [expect.stringMatching(/^no usable answer from .*atproto\.facts\./)],
    ]);
  });

  it.each([
    ['Python', "'str' object has no attribute 'get'"],
    ['shell', 'its times are not valid'],
  ] as const)('report in one line that the freshness of a label fact is malformed (%s)', async (language, why) => {
    const { fact } = await serving();
    const body = (await fact('/v1/labels/overview')) as LabelsOverview;
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ ...body, freshness: 'current' }));
    });
    const { port } = await listenForTest(server);
    const url = `http://127.0.0.1:${port}`;
    const stderr = `no usable answer from ${url}: ${why}\n`;
    expect(await example(language, 'labelers', url)).toEqual({ code: 1, stdout: '', stderr });
  });

  it.each(all)('report in one line that no server is listening (%s, %s)', async (language, name) => {
    // Occupy the port on another address, so that no process can start listening on it during the test.
    const { port } = await listenForTest(createServer());
    const { code, stdout, stderr } = await example(language, name, `http://127.0.0.2:${port}`);
    expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [
        expect.stringMatching(
          language === 'shell' ? /^curl: .*connect to 127\.0\.0\.2/ : /^no usable answer from http:/,
        ),
      ],
    ]);
  });

  it.each(all.flatMap(([language, name]) => [200, 404].map((status) => [language, name, status] as const)))(
    'report in one line that another server responds (%s, %s, status %i)',
    async (language, name, status) => {
      const server = createServer((_request, response) => response.writeHead(status).end('<!doctype html>'));
      const { port } = await listenForTest(server);
      const url = `http://127.0.0.1:${port}`;
      const { code, stdout, stderr } = await example(language, name, url);
      expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([
        1,
        '',
        [expect.stringContaining(`no usable answer from ${url}: `)],
      ]);
    },
  );

  it('are all run, either by this test or by the tests of archive downloads and first commands', async () => {
    const { readdirSync } = await import('node:fs');
    expect(
      readdirSync(join(root, 'examples'))
        .filter((file) => !file.startsWith('facts.') && !file.startsWith('archive'))
        .sort(),
    ).toEqual([
      'labelers.py',
      'labelers.sh',
      'labelers.ts',
      'network-activity.sh',
      'network-activity.ts',
      'network_activity.py',
    ]);
  });
});
