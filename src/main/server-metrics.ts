import { Counter, Gauge, type Registry } from 'prom-client';
import type { Reading } from '../artifact/reading.ts';
import { type CutReason, cutReasons } from '../http/connections/connection-table.ts';

/** Metrics that both servers have. Their names and dimensions are bounded and never identify a client or an account. */
export interface ServerMetrics {
  answered(route: string, status: number): void;
  /** Counts a connection that was closed to protect the server and its other clients. */
  cut(reason: CutReason): void;
  /** Registers the function that returns the number of open connections. */
  connections(count: () => number): void;
}

/** Metrics of the facts process. */
export interface FactsMetrics extends ServerMetrics {
  observed(instrument: string, reading: Reading<unknown>): void;
}

/** Registers the metrics of the facts process. */
export function factsMetrics(registry: Registry): FactsMetrics {
  const registers = [registry];
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
  return {
    ...serverMetrics('almanac_facts', registry),
    observed: (instrument, reading) => {
      readable.set({ instrument }, reading.kind === 'readable' ? 1 : 0);
      if (reading.kind !== 'readable') refused.inc({ instrument, reading: reading.kind });
    },
  };
}

/** Registers the metrics that both servers have. `prefix` begins their names. */
export function serverMetrics(prefix: 'almanac_facts' | 'almanac_account', registry: Registry): ServerMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: `${prefix}_requests_total`,
    help: 'Responses sent, by route (from a fixed list) and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const cut = new Counter({
    name: `${prefix}_connections_cut_total`,
    help: 'Connections closed to protect the server and its other clients, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of cutReasons) cut.inc({ reason }, 0);
  return {
    answered: (route, status) => requests.inc({ route, status: String(status) }),
    cut: (reason) => cut.inc({ reason }),
    connections: countGauge(`${prefix}_connections`, 'Open connections.', registry),
  };
}

/**
 * Registers a gauge of a count. Returns the function that registers the source of the count; the gauge is 0 until a
 * source is registered.
 */
export function countGauge(name: string, help: string, registry: Registry): (count: () => number) => void {
  let ask = (): number => 0;
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(ask());
    },
  });
  return (count) => {
    ask = count;
  };
}
