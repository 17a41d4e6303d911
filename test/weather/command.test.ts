import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { readArtifact } from '../../harness/weather/weather-kept.ts';
import { makeReady, type RunningCommand, runCommand } from '../../harness/weather/weather-process.ts';
import { createSim } from '../../sim/index.ts';

const running: RunningCommand[] = [];
const folders: string[] = [];

beforeAll(makeReady, 120_000);
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'almanac-command-'));
  folders.push(made);
  return made;
}

function run(args: readonly string[]): RunningCommand {
  const command = runCommand(args);
  running.push(command);
  return command;
}

describe('almanac weather', () => {
  test.each([
    [
      'https://host.example/subscribe',
      'almanac: --jetstream requires an address such as wss://HOST or wss://HOST/subscribe\n',
    ],
    ['nonsense', 'almanac: --jetstream requires an address such as wss://HOST or wss://HOST/subscribe\n'],
    ['wss://10.0.0.1/subscribe', 'almanac: --jetstream wss://10.0.0.1/subscribe: no public address (private)\n'],
    [
      'ws://127.0.0.1:1/subscribe',
      'almanac: --jetstream ws://127.0.0.1:1/subscribe: use wss:; ws: is for loopback, with --allow-loopback\n',
    ],
  ])('refuses to begin with %s, in one line', async (jetstream, line) => {
    const command = run(['weather', '--jetstream', jetstream, '--data', folder()]);
    expect([await command.ended, command.stderr()]).toEqual([1, line]);
  });

  test('goes on against a host that is not there, says so, and publishes an absence', async () => {
    const data = folder();
    const jetstream = 'ws://127.0.0.1:1/subscribe';
    const command = run(['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback']);
    expect(await command.ready).toBe('almanac weather observing');
    await until('it says why', () =>
      command.stderr().includes(`cannot connect to ${jetstream}: the connection was refused (ECONNREFUSED)`),
    );
    expect(readArtifact(data)).toMatchObject({ total_events: { total: null }, collections: {} });
    command.child.kill('SIGTERM');
    expect(await command.ended).toBe(0);
  });

  test('turns a second start on the same data away, in one line', async () => {
    const sim = createSim();
    const { jetstream } = await sim.start();
    const data = folder();
    const args = ['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback'];
    await run(args).ready;
    const second = run(args);
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toBe(
      `almanac: another almanac weather writes to ${data}; stop it, or choose another --data\n`,
    );
    await sim.stop();
  });

  test.each([
    ['golden_v1.jsonl', 'not a zstd dictionary'],
    ['no-such-file', 'no such file or directory (ENOENT)'],
    ['.', 'not a file of at most 16 MiB'],
  ])('takes no other file for a dictionary, and says so in one line: %s', async (name, why) => {
    const path = join(import.meta.dirname, '..', 'fixtures', 'jetstream', name);
    const command = run(['weather', '--data', folder(), '--jetstream-dictionary', path]);
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toBe(`almanac: cannot use the dictionary ${path}: ${why}\n`);
  });

  test('feeds the facts API: a client sees rates by collection, coverage and conditions', async () => {
    const data = folder();
    const sim = run(['sim', '--seed', '3', '--rate', '50']);
    const { jetstream } = JSON.parse(await sim.ready) as { jetstream: string };
    const weather = run([
      ...['weather', '--jetstream', jetstream, '--data', data, '--allow-loopback', '--publish-seconds', '1'],
      ...['--metrics-port', '0'],
    ]);
    await weather.ready;
    const metricsPort = () => /"port":(\d+),"msg":"metrics listening"/.exec(weather.stderr())?.[1];
    const facts = run(['facts', '--artifacts', join(data, 'artifacts'), '--port', '0']);
    const base = (await facts.ready).replace('almanac facts listening on ', '');
    await until('the backfill is over', () => weather.stderr().includes('the backfill is over'));
    // An artifact of before the backfill was over may be as fresh.
    await until('the artifact tells of it', () => {
      const { window, freshness } = readArtifact(data);
      return window.observed_windows > 55 && /current|partial/.test(freshness.state);
    });
    const metrics = (await (await fetch(`${base}/v1/weather/metrics`)).json()) as { facts: Record<string, unknown> };
    expect(metrics.facts).toMatchObject({
      window: { bucket_seconds: 60, span_seconds: 86_400, coverage_ratio: expect.closeTo(0.0413, 2) },
    });
    const { collections } = metrics.facts as { collections: Record<string, { mean_rate_per_s: number }> };
    // About two thirds of 50 events a second, by the hour of the day.
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
    await until('its metrics have an address', () => metricsPort() !== undefined);
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
    for (const command of [facts, weather, sim]) command.child.kill('SIGTERM');
    expect(await Promise.all([facts.ended, weather.ended, sim.ended])).toEqual([0, 0, 0]);
  });
});
