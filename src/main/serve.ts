import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import type { HttpServer } from '../http/server.ts';
import { OperatorError, systemCode, systemWords } from '../ops/errors.ts';
import { type Log, silentLog } from '../ops/log.ts';
import { firstSignal, serveMetrics, stopInTime } from '../ops/process.ts';

/** A started component that can be stopped. */
export interface Running {
  stop(): Promise<void>;
  /** Rejects if the component fails. Absent if only a signal ends the component. */
  readonly failed?: Promise<never>;
}

/** Options for a server command. */
interface ServeOptions {
  /**
   * Loopback port of the metrics listener, or null, the default, to collect no metrics. A worker collects metrics for the
   * primary process, which listens and aggregates them.
   */
  readonly metricsPort?: number | null;
  /** Reports the metrics listener. */
  readonly log?: Log;
  /** Starts the server. `asked` aborts if a signal arrives during startup; `start` may then reject with any error. */
  readonly start: (registry: Registry | null, asked: AbortSignal) => Promise<Running>;
}

/**
 * Starts a server, serves until SIGTERM or SIGINT, stops it, and resolves with exit code 0. Rejects if the server
 * cannot start or fails later.
 */
export async function serveUntilStopped({ metricsPort = null, log = silentLog, start }: ServeOptions): Promise<number> {
  // A signal during startup aborts the signal that `start` receives. A start that ignores it is completed first.
  const asked = firstSignal();
  const registry = metricsPort === null ? null : await defaultRegistry();
  const metrics =
    registry && metricsPort !== null && cluster.isPrimary
      ? await serveMetrics(metricsPort, { contentType: registry.contentType, text: () => registry.metrics() })
      : null;
  if (metrics) log.info('the metrics port is open', { port: metrics.port });
  try {
    const running = await started(start, registry, asked);
    if (running === null) return 0;
    await (running.failed ? Promise.race([asked, stopAfter(running.failed, running)]) : asked);
    await stopInTime(() => running.stop());
  } finally {
    await metrics?.stop();
  }
  return 0;
}

/** Resolves with the started server, or with null if the start failed after a signal had arrived. */
async function started(
  start: ServeOptions['start'],
  registry: Registry | null,
  asked: Promise<void>,
): Promise<Running | null> {
  const early = new AbortController();
  void asked.then(() => early.abort());
  try {
    return await start(registry, early.signal);
  } catch (error) {
    if (early.signal.aborted) return null;
    throw error;
  }
}

/** Waits until a server fails, stops it within the time limit of a stop, and rejects with the original error. */
async function stopAfter(failed: Promise<never>, running: Running): Promise<never> {
  try {
    return await failed;
  } catch (error) {
    await stopInTime(() => running.stop()).catch(() => {
      // Report the original error and ignore any error while stopping.
    });
    throw error;
  }
}

/**
 * Default metrics of prom-client that list every open connection and request. With 7,000 connections, they would take
 * most of the time for which a scrape stops the process; `process_open_fds` counts the connections.
 */
const costlyMetrics = ['active_resources', 'active_handles', 'active_requests']
  .flatMap((name) => [name, `${name}_total`])
  .map((name) => `almanac_process_nodejs_${name}`);

/** Returns the default registry. Loads its module on demand, because a server without metrics does not need it. */
async function defaultRegistry(): Promise<Registry> {
  const { AggregatorRegistry, collectDefaultMetrics, register } = await import('prom-client');
  // A worker's registry responds when the primary process requests its metrics.
  if (cluster.isWorker) new AggregatorRegistry();
  collectDefaultMetrics({ register, prefix: 'almanac_process_' });
  for (const name of costlyMetrics) register.removeSingleMetric(name);
  return register;
}

/** A listening server. */
export interface RunningServer extends Running {
  readonly port: number;
}

/** Maximum time in milliseconds for pending requests to complete when the server stops. */
const graceMs = 5_000;

/**
 * Makes a server listen. Its `stop` completes the pending requests and then calls `stopRest`. Rejects with OperatorError
 * if the server cannot listen.
 */
export async function listenOn(
  server: HttpServer,
  { host, port }: { readonly host: string; readonly port: number },
  log: Log,
  stopRest: () => Promise<unknown>,
): Promise<RunningServer> {
  const listening = await server.start({ host, port }).catch((error: unknown) => {
    throw new OperatorError(`cannot listen on ${host}:${port}: ${listenFault(error)}`);
  });
  log.info('listening', { host, port: listening, startedInMs: Math.round(performance.now()) });
  return {
    port: listening,
    async stop() {
      await server.stop(graceMs);
      await stopRest();
      log.info('stopped');
    },
  };
}

function listenFault(error: unknown): string {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return 'the port is in use; choose another with --port';
    case 'EACCES':
      return 'this user is not permitted to use the port; choose one above 1023 with --port';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'this machine has no such address; choose another with --host';
    default:
      return systemWords(error);
  }
}

/**
 * Rejects with an OperatorError that names the flag of the port if a port is in use or cannot be used. Commands call
 * this function before long work that precedes the start of their server. If a port becomes occupied after this
 * check, the server itself reports it.
 */
export async function assertFree(host: string, ports: Readonly<Record<string, number>>): Promise<void> {
  for (const [flag, port] of Object.entries(ports)) {
    const server = createServer();
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (error) {
      throw new OperatorError(`cannot listen on ${host}:${port}: ${listenFault(error).replace('--port', `--${flag}`)}`);
    } finally {
      server.close();
    }
  }
}

/**
 * Returns a path prefix without its trailing slash. An empty prefix means that the server serves at the root. Throws
 * OperatorError if the text is not a path.
 */
export function basePath(text: string): string {
  const trimmed = text.replace(/\/+$/, '');
  if (trimmed === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(trimmed)) return trimmed;
  throw new OperatorError(`--base-path requires a path such as /atproto; got ${JSON.stringify(text)}`);
}

/** Returns the address of a server for its announcement on stdout. */
export function addressOf({ host, basePath: path }: { host: string; basePath: string }, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}${basePath(path)}`;
}
