import { readBody } from '../../client/body.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { untrustedProxyMetric } from '../account/account-metrics.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Timeout of the account surface's metrics, in milliseconds. */
const answerMs = 2_000;
/** Maximum size of the metrics, in bytes. The size is limited, because any program may listen on the port. */
const maxBytes = 1024 * 1024;

const check = 'proxy trust';

/**
 * Reads a metric of the running account surface to check that the surface trusts the proxy in front of it. Resolves
 * with null if no metrics are served or they do not contain this metric.
 */
export async function checkProxyTrust(metricsPort: number): Promise<Finding | null> {
  const metrics = await metricsAt(metricsPort);
  const found = new RegExp(`^${untrustedProxyMetric} (\\d+)`, 'm').exec(metrics ?? '')?.[1];
  if (found === undefined) return null;
  if (found === '0') return ok(check, 'no request reached the account surface through an untrusted proxy');
  return warn(
    check,
    `${found} requests reached the account surface through an untrusted proxy: all clients count as one`,
    'start it with --trust-proxy and the number of proxies',
  );
}

async function metricsAt(port: number): Promise<string | null> {
  try {
    const response = await serviceFetch(`http://127.0.0.1:${port}/metrics`, {
      signal: AbortSignal.timeout(answerMs),
      redirect: 'manual',
    });
    const bytes = response.ok ? await readBody(response, maxBytes) : null;
    return bytes && Buffer.from(bytes.buffer).toString('utf8');
  } catch {
    return null;
  }
}
