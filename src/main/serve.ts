import type { Registry } from 'prom-client';
import { stopOnSignal } from '../ops/lifecycle.ts';
import type { Log } from '../ops/log.ts';
import { type MetricsServer, registryText, serveMetrics } from '../ops/metrics.ts';

/** Something that was started and can be stopped. */
export interface Running {
  stop(): Promise<void>;
}

/** How a server command runs. */
export interface ServeOptions {
  /** Loopback port of the metrics listener; null for none. */
  readonly metricsPort: number | null;
  /** Whether metrics are kept at all: a worker keeps them for the process that collects. */
  readonly collectMetrics: boolean;
  readonly log: Log;
  readonly start: (registry: Registry | null) => Promise<Running>;
}

/** Starts a server, serves until SIGTERM or SIGINT, stops it, and resolves with exit code 0. */
export async function serveUntilStopped({ metricsPort, collectMetrics, log, start }: ServeOptions): Promise<number> {
  const registry = collectMetrics ? await defaultRegistry() : null;
  const metrics = registry && metricsPort !== null ? await serveMetrics(metricsPort, registryText(registry)) : null;
  if (metrics) log.info('metrics listening', { port: metrics.port });
  try {
    const starting = start(registry);
    // Listened for from the start: a signal may come as soon as the address is announced, or before.
    await Promise.all([starting, stopOnSignal(async () => (await starting).stop())]);
  } finally {
    await stopMetrics(metrics);
  }
  return 0;
}

/** Loaded only when asked for: a server without metrics carries none of this. */
async function defaultRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, register } = await import('prom-client');
  collectDefaultMetrics({ register, prefix: 'almanac_process_' });
  return register;
}

async function stopMetrics(metrics: MetricsServer | null): Promise<void> {
  await metrics?.stop();
}
