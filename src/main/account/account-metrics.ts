import { Counter, Histogram, type Registry } from 'prom-client';
import type { ReadingTelemetry } from '../../account/reading/reading-pool.ts';
import { countGauge, type ServerMetrics, serverMetrics } from '../server-metrics.ts';

/** Metrics of the account process. Their names and dimensions are bounded and never identify a client or an account. */
export interface AccountMetrics extends ServerMetrics, ReadingTelemetry {
  /** Registers the function that returns the number of waiting requests. */
  waiting(count: () => number): void;
  /** Counts a request with forwarding headers that arrived although no proxy is trusted. */
  untrustedProxy(): void;
}

/** Name of the metric of requests through an untrusted proxy, which the doctor reads. */
export const untrustedProxyMetric = 'almanac_account_untrusted_proxy_requests_total';

/** Registers the metrics of the account process. */
export function accountMetrics(registry: Registry): AccountMetrics {
  const untrusted = new Counter({
    name: untrustedProxyMetric,
    help: 'Requests that came through a local proxy although --trust-proxy is 0: all clients of the proxy count as one.',
    registers: [registry],
  });
  return {
    ...serverMetrics('almanac_account', registry),
    ...readingMetrics(registry),
    untrustedProxy: () => untrusted.inc(),
    waiting: countGauge('almanac_account_waiting', 'Requests waiting for the store.', registry),
  };
}

const seconds = [0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 2, 10];

/** Registers the metrics of turns at the store. */
function readingMetrics(registry: Registry): ReadingTelemetry {
  const registers = [registry];
  const waited = new Histogram({
    name: 'almanac_account_wait_duration_seconds',
    help: 'Time that turns waited in the queue.',
    buckets: seconds,
    registers,
  });
  const read = new Histogram({
    name: 'almanac_account_read_duration_seconds',
    help: 'Duration of turns at the store.',
    buckets: seconds,
    registers,
  });
  const busy = new Counter({
    name: 'almanac_account_busy_total',
    help: 'Turns refused, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['full', 'waited', 'deadline']) busy.inc({ reason }, 0);
  const restarts = new Counter({
    name: 'almanac_account_reader_deaths_total',
    help: 'Store-reading processes that exited or were killed at a deadline.',
    registers,
  });
  return {
    turn: (waitedMs, ranMs) => {
      waited.observe(waitedMs / 1000);
      read.observe(ranMs / 1000);
    },
    busy: (reason) => busy.inc({ reason }),
    restarted: () => restarts.inc(),
  };
}
