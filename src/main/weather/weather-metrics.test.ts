import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { telemetryOfHost } from '../../weather/stream/telemetry.ts';
import { weatherMetrics } from './weather-metrics.ts';
import { readReport, reportingTelemetry, type WeatherReport } from './weather-report.ts';

const at = Date.parse('2026-11-20T13:16:00Z');

test('the metrics and the report show both hosts, the published host, and each change of the published host', async () => {
  const registry = new Registry();
  const reports: WeatherReport[] = [];
  const telemetry = reportingTelemetry(
    weatherMetrics(registry),
    (report) => reports.push(report),
    () => 0,
  );
  const [first, second] = [telemetryOfHost(telemetry, 'first'), telemetryOfHost(telemetry, 'second')];
  telemetry.publishedHost('first', null);
  first.connected('live');
  second.connected('live');
  first.disconnected('live', 'timeout');
  second.disconnected('backfill', 'dns');
  telemetry.publishedHost('second', at);
  telemetry.publishedHost('second', at);
  const values = async (name: string) => {
    const metric = await registry.getSingleMetric(name)?.get();
    return metric?.values.map(({ labels, value }) => [...Object.values(labels), value]);
  };
  expect(await values('almanac_weather_host_connected')).toEqual([
    ['first', 0],
    ['second', 1],
  ]);
  expect(await values('almanac_weather_host_published')).toEqual([
    ['first', 0],
    ['second', 1],
  ]);
  expect(await values('almanac_weather_failover_timestamp_seconds')).toEqual([[at / 1000]]);
  expect(await values('almanac_weather_failovers_total')).toEqual([
    ['first', 0],
    ['second', 1],
  ]);
  // The stream metrics cover only the first host.
  expect(await values('almanac_weather_connections_total')).toEqual([['live', 1]]);
  expect(readReport(JSON.parse(JSON.stringify(reports.at(-1))))).toEqual({
    report: 'weather',
    hosts: [
      { connected: false, cause: 'timeout', lagSeconds: null },
      { connected: true, cause: null, lagSeconds: null },
    ],
    failoverSince: at,
  });
});

test('the lag of a host keeps growing between commits and is computed at each scrape of the metrics', async () => {
  const registry = new Registry();
  let now = at;
  const telemetry = weatherMetrics(registry, () => now);
  const [first, second] = [telemetryOfHost(telemetry, 'first'), telemetryOfHost(telemetry, 'second')];
  const lags = async () => {
    const names = ['almanac_weather_lag_seconds', 'almanac_weather_host_lag_seconds'];
    const lagsOf = async (name: string) => {
      const metric = await registry.getSingleMetric(name)?.get();
      return metric?.values.map(({ labels, value }) => [...Object.values(labels), value]);
    };
    return Promise.all(names.map(lagsOf));
  };
  expect(await lags()).toEqual([[[Number.NaN]], []]);
  first.lag(2, at - 2_000);
  second.lag(1, at - 1_000);
  expect(await lags()).toEqual([
    [[2]],
    [
      ['first', 2],
      ['second', 1],
    ],
  ]);
  now = at + 600_000;
  second.lag(0.5, now - 500);
  expect(await lags()).toEqual([
    [[602]],
    [
      ['first', 602],
      ['second', 0.5],
    ],
  ]);
  // Setting the clock back does not make the lag negative.
  now = at - 10_000;
  expect((await lags())[0]).toEqual([[0]]);
});

test('the report reader ignores a message that is not a report', () => {
  for (const message of [null, 'weather', { report: 'labels', hosts: [] }, { report: 'weather', hosts: 3 }])
    expect(readReport(message)).toBeNull();
});
