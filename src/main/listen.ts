import { once } from 'node:events';
import { createServer } from 'node:net';
import type { HttpServer } from '../http/server.ts';
import { OperatorError, systemCode, systemWords } from '../ops/errors.ts';

/** Maximum time in milliseconds for pending requests to complete when the server stops. */
export const graceMs = 5_000;

/** Makes a server listen, and resolves with its port. Rejects with OperatorError if it cannot listen. */
export async function listenOn(server: HttpServer, at: { host: string; port: number }): Promise<number> {
  return server.start(at).catch((error: unknown) => {
    throw new OperatorError(`cannot listen on ${at.host}:${at.port}: ${listenFault(error)}`);
  });
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
