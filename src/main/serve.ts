import cluster from 'node:cluster';
import type { Registry } from 'prom-client';
import { firstSignal, stopInTime } from '../ops/lifecycle.ts';
import type { Log } from '../ops/log.ts';
import { registryText, serveMetrics } from '../ops/metrics.ts';

/** Something that was started and can be stopped. */
export interface Running {
  stop(): Promise<void>;
  /** Rejects when it cannot go on; absent where nothing but a signal ends it. */
  readonly failed?: Promise<never>;
}

/** Options of a server command. */
export interface ServeOptions {
  /** Loopback port of the metrics listener; null for none. */
  readonly metricsPort: number | null;
  /** Collects metrics: a worker collects them for the process that aggregates. */
  readonly collectMetrics: boolean;
  readonly log: Log;
  /** `asked` is aborted when a signal comes before it has started: it may then give up, and reject with anything. */
  readonly start: (registry: Registry | null, asked: AbortSignal) => Promise<Running>;
}

/** Starts a server, serves until SIGTERM or SIGINT, stops it, and resolves with exit code 0. */
export async function serveUntilStopped({ metricsPort, collectMetrics, log, start }: ServeOptions): Promise<number> {
  // From here on a signal waits until what is being started can be stopped in order.
  const asked = firstSignal();
  const registry = collectMetrics ? await defaultRegistry() : null;
  const metrics = registry && metricsPort !== null ? await serveMetrics(metricsPort, registryText(registry)) : null;
  if (metrics) log.info('metrics listening', { port: metrics.port });
  try {
    const running = await started(start, registry, asked);
    if (running === null) return 0;
    await (running.failed ? Promise.race([asked, stopAfter(running.failed, running)]) : asked);
    await stopInTime(() => running.stop());
  } finally {
    await metrics?.stop();
  }
  return 0;
}

/** The started server; null if a signal arrived first. */
async function started(
  start: ServeOptions['start'],
  registry: Registry | null,
  asked: Promise<void>,
): Promise<Running | null> {
  const early = new AbortController();
  void asked.then(() => early.abort());
  try {
    return await start(registry, early.signal);
  } catch (error) {
    if (early.signal.aborted) return null;
    throw error;
  }
}

/** Stops a server that has failed, then rejects with its error. */
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
  const { AggregatorRegistry, collectDefaultMetrics, register } = await import('prom-client');
  // In a worker this listens for the first process's question; there it asks.
  if (cluster.isWorker) new AggregatorRegistry();
  collectDefaultMetrics({ register, prefix: 'almanac_process_' });
  return register;
}
