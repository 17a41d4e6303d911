import type { Registry } from 'prom-client';
import { type ReadingTelemetry, storeFaults } from '../../account/reading/reading-pool.ts';
import { type Metrics, metricsIn } from '../metrics.ts';
import { type ServerMetrics, serverMetrics } from '../server-metrics.ts';

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
  const metrics = metricsIn(registry);
  const untrusted = metrics.counter(
    untrustedProxyMetric,
    'Requests that came through a local proxy although --trust-proxy is 0: all clients of the proxy count as one.',
  );
  return {
    ...serverMetrics('almanac_account', metrics),
    ...readingMetrics(metrics),
    untrustedProxy: () => untrusted.inc(),
    waiting: metrics.count('almanac_account_waiting', 'Requests waiting for the store.'),
  };
}

const seconds = [0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 2, 10];

/** Registers the metrics of turns at the store. */
function readingMetrics(metrics: Metrics): ReadingTelemetry {
  const waited = metrics.histogram(
    'almanac_account_wait_duration_seconds',
    'Time that turns waited in the queue.',
    seconds,
  );
  const read = metrics.histogram('almanac_account_read_duration_seconds', 'Duration of turns at the store.', seconds);
  const busy = metrics.counter('almanac_account_busy_total', 'Turns refused, by reason.', 'reason');
  for (const reason of ['full', 'waited', 'deadline']) busy.inc({ reason }, 0);
  const faults = metrics.counter(
    'almanac_account_store_errors_total',
    'Turns that failed because the store cannot be read, by error code.',
    'code',
  );
  for (const code of storeFaults) faults.inc({ code }, 0);
  const restarts = metrics.counter(
    'almanac_account_reader_deaths_total',
    'Store-reading processes that exited or were killed at a deadline.',
  );
  return {
    turn: (waitedMs, ranMs) => {
      waited.observe(waitedMs / 1000);
      read.observe(ranMs / 1000);
    },
    busy: (reason) => busy.inc({ reason }),
    storeFailed: (code) => faults.inc({ code }),
    restarted: () => restarts.inc(),
  };
}
