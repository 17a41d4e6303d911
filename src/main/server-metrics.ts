import { Counter, Gauge, type Registry } from 'prom-client';
import type { ArtifactSource, Reading } from '../artifact/reading.ts';
import { type CutReason, cutReasons } from '../http/connections/connection-table.ts';
import { type Metrics, metricsIn } from './metrics.ts';

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
  /** Counts a change of an artifact's reading if the artifact cannot be published. */
  observed(instrument: string, reading: Reading<unknown>): void;
  /** Registers the artifacts' sources by instrument. They are read at each scrape. */
  artifacts(sources: Readonly<Record<string, Pick<ArtifactSource<unknown>, 'read'>>>): void;
}

/** Registers the metrics of the facts process. */
export function factsMetrics(registry: Registry): FactsMetrics {
  const metrics = metricsIn(registry);
  let sources: Parameters<FactsMetrics['artifacts']>[0] = {};
  new Gauge({
    name: 'almanac_facts_artifact_readable',
    help: '1 if the artifact of the instrument is readable, and 0 if it is not.',
    labelNames: ['instrument'],
    // Report the minimum over all workers, so that the gauge is 0 if any worker cannot read the file.
    aggregator: 'min',
    registers: [registry],
    // Read the file at each scrape: a worker without requests would keep reporting its last reading.
    collect() {
      for (const [instrument, source] of Object.entries(sources)) {
        this.set({ instrument }, source.read().kind === 'readable' ? 1 : 0);
      }
    },
  });
  const refused = new Counter({
    name: 'almanac_facts_artifact_refusals_total',
    help: 'Number of times an artifact became unpublishable, by kind of reading.',
    labelNames: ['instrument', 'reading'],
    // Every worker reads the artifact at each scrape, so the sum would count one change once for each worker.
    aggregator: 'max',
    registers: [registry],
  });
  return {
    ...serverMetrics('almanac_facts', metrics),
    observed: (instrument, reading) => {
      if (reading.kind !== 'readable') refused.inc({ instrument, reading: reading.kind });
    },
    artifacts: (started) => {
      sources = started;
    },
  };
}

/** Registers the metrics that both servers have. `prefix` begins their names. */
export function serverMetrics(prefix: 'almanac_facts' | 'almanac_account', metrics: Metrics): ServerMetrics {
  const requests = metrics.counter(
    `${prefix}_requests_total`,
    'Responses sent, by route (from a fixed list) and status.',
    'route',
    'status',
  );
  const cut = metrics.counter(
    `${prefix}_connections_cut_total`,
    'Connections closed to protect the server and its other clients, by reason.',
    'reason',
  );
  for (const reason of cutReasons) cut.inc({ reason }, 0);
  return {
    answered: (route, status) => requests.inc({ route, status: String(status) }),
    cut: (reason) => cut.inc({ reason }),
    connections: metrics.count(`${prefix}_connections`, 'Open connections.'),
  };
}
