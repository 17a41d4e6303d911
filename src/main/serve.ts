import type { Registry } from 'prom-client';
import { stopOnSignal } from '../ops/lifecycle.ts';
import type { Log } from '../ops/log.ts';
import { type MetricsServer, registryText, serveMetrics } from '../ops/metrics.ts';

/** Something that was started and can be stopped. */
export interface Running {
  stop(): Promise<void>;
  /** Rejects when it cannot go on; absent where nothing but a signal ends it. */
  readonly failed?: Promise<never>;
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
    const running = await start(registry);
    const stopped = stopOnSignal(() => running.stop());
    await (running.failed ? Promise.race([stopped, stopAfter(running.failed, running)]) : stopped);
  } finally {
    await stopMetrics(metrics);
  }
  return 0;
}

/** What cannot go on is stopped as far as it can be, and the process ends with its fault. */
async function stopAfter(failed: Promise<never>, running: Running): Promise<never> {
  try {
    return await failed;
  } catch (error) {
    await running.stop().catch(() => {
      // The fault that came first is the one to be told.
    });
    throw error;
  }
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
