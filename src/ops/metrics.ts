import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { OperatorError, systemWords } from './errors.ts';

/** A separate listener for Prometheus, on loopback only. */
export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** All current metrics, in the Prometheus text format. */
interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Returns the metrics text of one process's registry. */
export function registryText(registry: Registry): MetricsText {
  return { contentType: registry.contentType, text: () => registry.metrics() };
}

/** Starts the metrics listener. Rejects with OperatorError if the port cannot be bound. */
export async function serveMetrics(port: number, metrics: MetricsText): Promise<MetricsServer> {
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
