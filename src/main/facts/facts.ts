import cluster from 'node:cluster';
import { createLog } from '../../ops/log.ts';
import type { Command } from '../command.ts';
import { addressOf, serveUntilStopped } from '../serve.ts';
import { factsSettings } from './facts-settings.ts';

/** `almanac facts`: the facts API over an artifact directory, files or URLs. */
export const factsCommand: Command<typeof factsSettings> = {
  summary: 'the facts API over an artifact directory (or per-instrument paths or URLs)',
  operands: '',
  settings: factsSettings,
  async run(values, { print }) {
    const announce = (port: number): void => print(`almanac facts listening on ${addressOf(values, port)}`);
    if (values.workers > 1 && cluster.isPrimary) {
      const { runWorkers } = await import('./workers.ts');
      return runWorkers(values, createLog('facts', values.logLevel), announce);
    }
    const { startFacts } = await import('./facts-process.ts');
    const worker = cluster.worker ? { worker: cluster.worker.id } : {};
    const log = createLog('facts', values.logLevel).with(worker);
    const code = await serveUntilStopped({
      metricsPort: cluster.isPrimary ? values.metricsPort : null,
      collectMetrics: values.metricsPort !== null,
      log,
      start: async (registry) => {
        const metrics = registry ? (await import('./facts-metrics.ts')).factsMetrics(registry) : null;
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
