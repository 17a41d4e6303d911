import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Program } from '../../harness/process/program.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { readArtifact } from '../../harness/weather/weather-kept.ts';
import { createSim } from '../../sim/index.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'almanac-command-'));
  folders.push(made);
  return made;
}

const observing = /^almanac weather observing$/;

function says({ stderr }: Program, text: string): boolean {
  return stderr.some((line) => line.includes(text));
}

describe('almanac weather', () => {
  test.each([
    [
      'https://host.example/subscribe',
      'almanac: --jetstream requires an address such as wss://HOST or wss://HOST/subscribe',
    ],
    ['nonsense', 'almanac: --jetstream requires an address such as wss://HOST or wss://HOST/subscribe'],
    ['wss://10.0.0.1/subscribe', 'almanac: --jetstream wss://10.0.0.1/subscribe: no allowed address (private)'],
    [
      'ws://127.0.0.1:1/subscribe',
      'almanac: --jetstream ws://127.0.0.1:1/subscribe: use wss:; ws: is allowed only for loopback, with --allow-loopback',
    ],
  ])('rejects an invalid address at startup with a one-line error (%s)', async (jetstream, line) => {
    const { code, stderr } = await runProgram(['weather', '--jetstream', jetstream, '--data', folder()]);
    expect([code, stderr]).toEqual([1, [line]]);
  });

  test('keeps running without its host, logs the reason, and publishes that nothing was observed', async () => {
    const data = folder();
    const jetstream = 'ws://127.0.0.1:1/subscribe';
    const command = startProgramInTest(['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback']);
    await command.line(observing);
    await until('the log contains the reason', () =>
      says(command, `cannot connect to ${jetstream}: the connection was refused (ECONNREFUSED)`),
    );
    expect(readArtifact(data)).toMatchObject({ total_events: { total: null }, collections: {} });
    expect(await command.stop()).toBe(0);
  });

  test('rejects a second start on the same data directory with a one-line error', async () => {
    const sim = createSim();
    const { jetstream } = await sim.start();
    const data = folder();
    const args = ['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback'];
    await startProgramInTest(args).line(observing);
    const { code, stderr } = await runProgram(args);
    expect(code).toBe(1);
    expect(stderr).toEqual([
      `almanac: another almanac weather process writes to ${data}; stop it, or choose another directory with --data`,
    ]);
    await sim.stop();
  });

  test.each([
    ['golden_v1.jsonl', 'not a zstd dictionary'],
    ['no-such-file', 'no such file or directory (ENOENT)'],
    ['.', 'not a file of at most 16 MiB'],
  ])('rejects a file that is not a dictionary with a one-line error (%s)', async (name, why) => {
    const path = join(import.meta.dirname, '..', 'fixtures', 'jetstream', name);
    const { code, stderr } = await runProgram(['weather', '--data', folder(), '--jetstream-dictionary', path]);
    expect(code).toBe(1);
    expect(stderr).toEqual([`almanac: cannot use the dictionary ${path}: ${why}`]);
  });

  // This file exists for every user, and its first bytes cannot be read by any.
  test.runIf(process.platform === 'linux')(
    'rejects a dictionary that cannot be read with a one-line error',
    async () => {
      const path = '/proc/self/mem';
      const { code, stderr } = await runProgram(['weather', '--data', folder(), '--jetstream-dictionary', path]);
      const line = `almanac: cannot use the dictionary ${path}: the disk reported an error (EIO)`;
      expect([code, stderr]).toEqual([1, [line]]);
    },
  );

  test('logs a temporary file of an earlier process that it cannot remove, and observes', async () => {
    const data = folder();
    const artifacts = join(data, 'artifacts');
    // A directory cannot be removed as a file, not even by root.
    mkdirSync(join(artifacts, '.weather-summary.json.0123456789ab.tmp'), { recursive: true });
    const jetstream = 'ws://127.0.0.1:1/subscribe';
    const command = startProgramInTest(['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback']);
    await command.line(observing);
    await until('the log names the directory', () =>
      says(command, `"folder":"${artifacts}","why":"the path is a directory (EISDIR)"`),
    );
    expect(await command.stop()).toBe(0);
  });

  test('feeds the facts API, which serves rates by collection, coverage and conditions', async () => {
    const data = folder();
    const sim = startProgramInTest(['sim', '--seed', '3', '--rate', '50']);
    const { jetstream } = JSON.parse(await sim.line(/^\{/)) as { jetstream: string };
    const weather = startProgramInTest([
      ...['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback', '--publish-seconds', '1'],
      ...['--metrics-port', '0'],
    ]);
    await weather.line(observing);
    const metricsPort = () => /"port":(\d+),"msg":"the metrics port is open"/.exec(weather.stderr.join('\n'))?.[1];
    const facts = startProgramInTest(['facts', '--artifacts', join(data, 'artifacts'), '--port', '0']);
    const { url: base } = await facts.listening();
    await until('the backfill of missed events has ended', () =>
      says(weather, 'the backfill of missed events has ended'),
    );
    // Wait for the backfill's data, because an artifact from before the end of the backfill may be just as fresh.
    await until('the artifact contains the backfill', () => {
      const { window, freshness } = readArtifact(data);
      return window.observed_windows > 55 && /current|partial/.test(freshness.state);
    });
    const metrics = (await (await fetch(`${base}/v1/weather/metrics`)).json()) as { facts: Record<string, unknown> };
    expect(metrics.facts).toMatchObject({
      window: { bucket_seconds: 60, span_seconds: 86_400, coverage_ratio: expect.closeTo(0.0413, 2) },
    });
    const { collections } = metrics.facts as { collections: Record<string, { mean_rate_per_s: number }> };
    // The expected rate is about two thirds of 50 events a second. It depends on the hour of the day.
    expect(collections['like.create']?.mean_rate_per_s).toBeGreaterThan(15);
    expect(collections['like.create']?.mean_rate_per_s).toBeLessThan(50);
    const conditions = (await (await fetch(`${base}/v1/weather/conditions`)).json()) as Record<string, unknown>;
    expect(conditions).toMatchObject({
      facts: { conditions: { state: 'unavailable', confidence: 'unsupported' } },
      freshness: { state: expect.stringMatching(/current|partial/), max_age_seconds: 180 },
      provenance: {
        instrument: 'weather',
        method: 'jetstream_windows',
        source_endpoint: jetstream,
        origin: 'simulated',
      },
    });
    await until('the metrics have an address', () => metricsPort() !== undefined);
    const operator = await (await fetch(`http://127.0.0.1:${metricsPort()}/metrics`)).text();
    for (const line of [
      /^almanac_weather_frames_total\{outcome="counted"\} [1-9]/m,
      /^almanac_weather_connections_total\{reader="backfill"\} 1$/m,
      /^almanac_weather_lag_seconds \d/m,
      /^almanac_weather_window_commits_total [1-9]/m,
      /^almanac_weather_artifact_age_seconds \d/m,
      /^almanac_weather_gap_seconds_total \d/m,
    ])
      expect(operator).toMatch(line);
    expect(await Promise.all([facts, weather, sim].map((program) => program.stop()))).toEqual([0, 0, 0]);
  });
});
