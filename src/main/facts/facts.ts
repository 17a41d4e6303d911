import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog, type Log } from '../../ops/log.ts';
import { firstSignal, serveMetrics, stopInTime } from '../../ops/process.ts';
import type { Command } from '../command.ts';
import { addressOf, serveUntilStopped } from '../serve.ts';
import { type FactsValues, factsSettings } from './facts-settings.ts';

/** `almanac facts`: the facts API over an artifact directory, files or URLs. */
export const factsCommand: Command<typeof factsSettings> = {
  summary: 'the facts API over an artifact directory (or per-instrument paths or URLs)',
  operands: '',
  settings: factsSettings,
  async run(values, { print }) {
    const announce = (port: number): void => print(`almanac facts listening on ${addressOf(values, port)}`);
    if (values.workers > 1 && cluster.isPrimary) {
      return runWorkers(values, createLog('facts', values.logLevel), announce);
    }
    const { startFacts } = await import('./facts-process.ts');
    const worker = cluster.worker ? { worker: cluster.worker.id } : {};
    const log = createLog('facts', values.logLevel).with(worker);
    const code = await serveUntilStopped({
      metricsPort: values.metricsPort,
      log,
      start: async (registry) => {
        const metrics = registry ? (await import('../server-metrics.ts')).factsMetrics(registry) : null;
        const running = await startFacts(values, log, metrics);
        if (cluster.isPrimary) announce(running.port);
        return running;
      },
    });
    // Close the channel to the primary process, because it would keep a stopped worker alive.
    cluster.worker?.disconnect();
    return code;
  },
};

/** Delay before an exited worker is restarted, in milliseconds. It limits the cost of a crash loop. */
const restartAfterMs = 500;

/**
 * Runs several processes on one port. Announces the port once all of them are listening, and replaces a worker that
 * exits later. Resolves with 0 after a signal has stopped the workers, or with 1 if a worker cannot start; that
 * worker has already reported the reason.
 */
async function runWorkers(
  { workers, metricsPort }: FactsValues,
  log: Log,
  announce: (port: number) => void,
): Promise<number> {
  let stopping = false;
  // A signal that arrives during startup is handled once startup is complete.
  const asked = firstSignal();
  // Start the first worker before the others, so that an error that affects all workers is reported only once.
  const port = await startWorker();
  const others = port === null ? [] : await Promise.all(Array.from({ length: workers - 1 }, () => startWorker()));
  if (port === null || others.includes(null)) {
    await stopWorkers();
    return 1;
  }
  cluster.on('exit', (worker, code, signal) => {
    if (!stopping) void replace(worker, code, signal);
  });
  const metrics = metricsPort === null ? null : await serveMetrics(metricsPort, await workersText());
  if (metrics) log.info('the metrics port is open', { port: metrics.port });
  announce(port);

  async function replace(worker: Worker, code: number, signal: string): Promise<void> {
    log.error('a worker exited and is being replaced', { worker: worker.id, code, signal });
    await delay(restartAfterMs);
    if (!stopping) await startWorker();
  }

  await asked;
  await stopInTime(async () => {
    stopping = true;
    await stopWorkers();
    await metrics?.stop();
  });
  return 0;
}

/** Starts one worker. Resolves with the worker's port once it listens, or with null if it exits first. */
async function startWorker(): Promise<number | null> {
  const worker = cluster.fork();
  const listening = once(worker, 'listening').then(([address]) => (address as { port: number }).port);
  const ended = once(worker, 'exit').then(() => null);
  return Promise.race([listening, ended]);
}

async function stopWorkers(): Promise<void> {
  const alive = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  await Promise.all(
    alive.map(async (worker) => {
      if (worker.isDead()) return;
      const ended = once(worker, 'exit');
      worker.process.kill('SIGTERM');
      await ended;
    }),
  );
}

async function workersText() {
  const { AggregatorRegistry } = await import('prom-client');
  const registry = new AggregatorRegistry();
  return { contentType: registry.contentType, text: () => registry.clusterMetrics() };
}
