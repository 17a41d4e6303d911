import cluster from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog, errorFields, type Log, type LogFields } from '../../ops/log.ts';
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

/**
 * Delays before an exited worker is replaced, in milliseconds. They limit the cost of a crash loop. The delay doubles, up
 * to the cap, after each replacement that did not start.
 */
const restart = { firstMs: 500, capMs: 30_000 } as const;

/**
 * Runs several processes on one port. Announces the port once all of them are listening, and replaces a worker that
 * exits after it listened. Resolves with 0 after a signal has stopped the workers, or with 1 if one of the first workers
 * exits before it listens; that worker has already reported the reason. Rejects if the system refuses to start one of
 * the first workers.
 */
async function runWorkers(
  { workers, metricsPort }: FactsValues,
  log: Log,
  announce: (port: number) => void,
): Promise<number> {
  // A signal that arrives during startup is handled once startup is complete.
  const asked = firstSignal();
  const { start, stop } = replacedWorkers(log);
  // Start the first worker before the others, so that an error that affects all workers is reported only once.
  const port = await start();
  const others = typeof port !== 'number' ? [] : await Promise.all(Array.from({ length: workers - 1 }, start));
  if (typeof port !== 'number' || others.some((one) => typeof one !== 'number')) {
    await stop();
    return 1;
  }
  const metrics = metricsPort === null ? null : await serveMetrics(metricsPort, await workersText());
  if (metrics) log.info('the metrics port is open', { port: metrics.port });
  announce(port);
  await asked;
  await stopInTime(async () => {
    await stop();
    await metrics?.stop();
  });
  return 0;
}

/** Starts workers. Each one that exits after it listened is replaced until all are stopped. */
function replacedWorkers(log: Log): { start(): Promise<number | LogFields>; stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const start = (): Promise<number | LogFields> =>
    startWorker((exit) => {
      if (signal.aborted) return;
      log.error('a worker exited and is being replaced', exit);
      void replace();
    });
  const replace = async (): Promise<void> => {
    for (let inMs: number = restart.firstMs; ; ) {
      // The delay rejects only if a stop ends it.
      await delay(inMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // A refusal of the system must not end this process, and with it the other workers.
      const problem = await start().then((one) => (typeof one === 'number' ? null : one), errorFields);
      if (problem === null || signal.aborted) return;
      inMs = Math.min(inMs * 2, restart.capMs);
      log.error('a worker could not start and will be retried', { inMs, ...problem });
    }
  };
  return {
    start,
    async stop() {
      stopping.abort();
      await stopWorkers();
    },
  };
}

/**
 * Starts one worker. Resolves with the worker's port once it listens, or with its exit if it exits first. Rejects if
 * the system refuses to start it. Calls `onExit` when a worker that has listened exits.
 */
async function startWorker(onExit: (exit: LogFields) => void): Promise<number | LogFields> {
  const worker = cluster.fork();
  const listening = once(worker, 'listening').then(([address]) => {
    worker.once('exit', (code, signal) => onExit({ worker: worker.id, code, signal }));
    return (address as { port: number }).port;
  });
  const ended = once(worker, 'exit').then(([code, signal]) => ({ worker: worker.id, code, signal }));
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
