import { collectDefaultMetrics, Registry } from 'prom-client';
import { families } from '../../src/facts/metrics/fact-metrics.ts';
import { sampleName } from '../../src/facts/metrics/open-metrics.ts';
import type { Reply } from '../../src/http/reply.ts';
import { accountMetrics } from '../../src/main/account/account-metrics.ts';
import { archiveMetrics } from '../../src/main/archive/archive-metrics.ts';
import { labelsMetrics } from '../../src/main/labels/labels-metrics.ts';
import { factsMetrics } from '../../src/main/server-metrics.ts';
import { weatherMetrics } from '../../src/main/weather/weather-metrics.ts';

/** Returns the names of all metrics that the program registers. */
export async function registeredMetrics(): Promise<string[]> {
  const registry = new Registry();
  accountMetrics(registry);
  archiveMetrics(registry);
  factsMetrics(registry);
  weatherMetrics(registry);
  labelsMetrics(registry);
  return (await registry.getMetricsAsJSON()).map(({ name }) => name);
}

/** Returns the names of the runtime metrics that every process registers. */
export async function runtimeMetrics(): Promise<string[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'almanac_process_' });
  return (await registry.getMetricsAsJSON()).map(({ name }) => name);
}

/** Returns the names of the metrics that publish facts. */
export function publishedMetrics(): string[] {
  return Object.values(families).map(sampleName);
}

/** Returns the value of a response header, or undefined if the response does not have it. */
export function headerOf({ headers }: Reply, name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text === name);
  return at < 0 ? undefined : headers[at + 1];
}
