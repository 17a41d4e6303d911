import { Counter, Gauge, type Registry } from 'prom-client';
import type { Reading } from '../../artifact/reading.ts';
import type { CutReason } from '../../http/connections/connection-table.ts';
import { connectionCount, connectionCuts } from '../connection-metrics.ts';

/** Metrics of the facts process. Their names and dimensions are bounded and never identify a client or an account. */
export interface FactsMetrics {
  answered(route: string, status: number): void;
  observed(instrument: string, reading: Reading<unknown>): void;
  /** Counts a connection that was closed to protect the server and its other clients. */
  cut(reason: CutReason): void;
  /** Registers the function that returns the number of open connections. */
  connections(count: () => number): void;
}

/** Registers the metrics of the facts process. */
export function factsMetrics(registry: Registry): FactsMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'almanac_facts_requests_total',
    help: 'Responses sent, by route (from a fixed list) and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const readable = new Gauge({
    name: 'almanac_facts_artifact_readable',
    help: '1 if the artifact of the instrument is readable, and 0 if it is not.',
    labelNames: ['instrument'],
    // Report the minimum over all workers, so that the gauge is 0 if any worker cannot read the file.
    aggregator: 'min',
    registers,
  });
  const refused = new Counter({
    name: 'almanac_facts_artifact_refusals_total',
    help: 'Number of times an artifact became unpublishable, by kind of reading.',
    labelNames: ['instrument', 'reading'],
    registers,
  });
  const cut = connectionCuts('almanac_facts_connections_cut_total', registry);
  const connections = connectionCount('almanac_facts_connections', registry);
  return {
    cut: (reason) => cut.inc({ reason }),
    connections,
    answered: (route, status) => requests.inc({ route, status: String(status) }),
    observed: (instrument, reading) => {
      readable.set({ instrument }, reading.kind === 'readable' ? 1 : 0);
      if (reading.kind !== 'readable') refused.inc({ instrument, reading: reading.kind });
    },
  };
}
