import { type AddressInfo, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { OperatorError, systemWords } from './errors.ts';

/** Maximum time from the first signal until everything has stopped, in milliseconds. */
const stopWithinMs = 9_000;

/**
 * Time for which a connection waits for one of several addresses of a host, in milliseconds. In this time, the system
 * repeats a lost first packet once, after one second.
 */
const addressMs = 2_000;

/**
 * Makes every connection of this thread wait `milliseconds` for each of several addresses of a host. By default, Node.js
 * waits 250 ms and never returns to an address, so that a machine without IPv6 cannot connect to a distant host that has
 * one address of each family.
 */
export function waitForDistantHosts(milliseconds = addressMs): void {
  setDefaultAutoSelectFamilyAttemptTimeout(milliseconds);
}

/** Source of the signals that stop the process. */
interface Signals {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  off(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

/** Time after the first signal in which further signals count as its copies, in milliseconds. */
const copiesWithinMs = 1_000;

/**
 * Resolves at the first SIGTERM or SIGINT after the call. Neither signal ends the process until then, and for
 * `copiesWithinMs` after it: a terminal signals the whole process group, and npm, the entry point or a primary process
 * in that group also sends the signal to this process. A later signal ends the process at once.
 */
export function firstSignal(signals: Signals = process): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false;
    const asked = (): void => {
      if (isAsked) return;
      isAsked = true;
      setTimeout(() => {
        signals.off('SIGTERM', asked);
        signals.off('SIGINT', asked);
      }, copiesWithinMs).unref();
      resolve();
    };
    signals.on('SIGTERM', asked);
    signals.on('SIGINT', asked);
  });
}

/**
 * Runs `stop`. Rejects if it fails or takes longer than `stopWithinMs`; the process can then report the failure with
 * its exit code.
 */
export async function stopInTime(stop: () => Promise<void>): Promise<void> {
  let stuck: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    stuck = setTimeout(() => reject(new Error(`the process did not stop within ${stopWithinMs} ms`)), stopWithinMs);
  });
  try {
    await Promise.race([stop(), late]);
  } finally {
    clearTimeout(stuck);
  }
}

/**
 * Returns the processor time of this thread, in milliseconds, or the elapsed time if the runtime does not provide it.
 */
export function threadCpuMs(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Returns the time for which this thread did not use the processor, in milliseconds since an arbitrary start. It is
 * constant if the runtime does not provide the processor time of a thread.
 */
export function threadIdleMs(): number {
  return performance.now() - threadCpuMs();
}

/** A separate listener for Prometheus, on loopback only. */
interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** All current metrics, in the Prometheus text format. */
interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Starts the metrics listener. Rejects with OperatorError if the port cannot be bound. */
export async function serveMetrics(port: number, metrics: MetricsText): Promise<MetricsServer> {
  // Load the module on demand, because most commands serve nothing.
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new OperatorError(
          `cannot serve metrics on port ${port}: ${systemWords(error)}; choose another with --metrics-port`,
        ),
      ),
    );
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
