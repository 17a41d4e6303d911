import { Counter, Gauge, type Registry } from 'prom-client';
import type { Reading } from '../artifact/reading.ts';
import type { CutReason } from '../http/connection-table.ts';
import { connectionCount, connectionCuts } from './connection-metrics.ts';

/** Metrics of the facts process: bounded names and dimensions, no client and no identity. */
export interface FactsMetrics {
  answered(route: string, status: number): void;
  observed(instrument: string, reading: Reading<unknown>): void;
  /** A connection was closed to protect the server and its other clients. */
  cut(reason: CutReason): void;
  /** Tells how to ask how many connections there are. */
  connections(count: () => number): void;
}

/** Registers the metrics of the facts process. */
export function factsMetrics(registry: Registry): FactsMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'almanac_facts_requests_total',
    help: 'Responses sent, by route of the closed list and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const readable = new Gauge({
    name: 'almanac_facts_artifact_readable',
    help: '1 when the artifact of the instrument is readable, else 0.',
    labelNames: ['instrument'],
    // Of several workers that look at one file: the one that cannot read it counts.
    aggregator: 'min',
    registers,
  });
  const refused = new Counter({
    name: 'almanac_facts_artifact_refusals_total',
    help: 'Times that an artifact became unpublishable, by kind of reading.',
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
