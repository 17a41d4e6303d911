import { untrustedProxyMetric } from '../account-metrics.ts';
import { type Finding, ok, warn } from './finding.ts';

/** How long the account surface may take to give its metrics, in milliseconds. */
const answerMs = 2_000;

const check = 'proxy trust';

/** Whether the running account surface believes the proxy in front of it, by its metrics; null where none are served. */
export async function checkProxyTrust(metricsPort: number): Promise<Finding | null> {
  const metrics = await metricsAt(metricsPort);
  const found = new RegExp(`^${untrustedProxyMetric} (\\d+)`, 'm').exec(metrics ?? '')?.[1];
  if (found === undefined) return null;
  if (found === '0') return ok(check, 'no request came to the account surface through a proxy that it does not trust');
  return warn(
    check,
    `${found} requests came to the account surface through a proxy that it does not trust: all clients count as one`,
    'start it with --trust-proxy and the number of proxies in front',
  );
}

async function metricsAt(port: number): Promise<string | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
      signal: AbortSignal.timeout(answerMs),
      redirect: 'error',
    });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
