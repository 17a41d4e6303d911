import { collectDefaultMetrics, Registry } from 'prom-client';
import { accountMetrics } from '../../src/main/account-metrics.ts';
import { factsMetrics } from '../../src/main/facts-metrics.ts';
import { labelsMetrics } from '../../src/main/labels-metrics.ts';
import { weatherMetrics } from '../../src/main/weather-metrics.ts';

/** The names of all metrics of our own, as they are registered. */
export async function registeredMetrics(): Promise<string[]> {
  const registry = new Registry();
  accountMetrics(registry);
  factsMetrics(registry);
  weatherMetrics(registry);
  labelsMetrics(registry);
  return (await registry.getMetricsAsJSON()).map(({ name }) => name);
}

/** The names of the runtime's metrics, as every process registers them. */
export async function runtimeMetrics(): Promise<string[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'almanac_process_' });
  return (await registry.getMetricsAsJSON()).map(({ name }) => name);
}
