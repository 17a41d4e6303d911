import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { telemetryOfHost } from '../../weather/stream/telemetry.ts';
import { weatherMetrics } from './weather-metrics.ts';
import { readReport, reportingTelemetry, type WeatherReport } from './weather-report.ts';

const at = Date.parse('2026-11-20T13:16:00Z');

test('the metrics and the report show both hosts, which of them is published, and each change', async () => {
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
  // Metrics of the stream include only the first host.
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

test('a message that is not a report is ignored', () => {
  for (const message of [null, 'weather', { report: 'labels', hosts: [] }, { report: 'weather', hosts: 3 }])
    expect(readReport(message)).toBeNull();
});
