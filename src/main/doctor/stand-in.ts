import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** Value of `Cache-Control` of a served response: caches may keep it for one second. */
export const trialCacheControl = 'public, max-age=1';
/** Lifetime of a served response in caches, in milliseconds. */
export const trialLifetimeMs = 1_000;

/** Code of the refusal that the stand-in sends. */
export const trialCode = 'source_held';

/**
 * Takes the place of the facts service while that is stopped, and responds to one path like the service responds to a
 * fact: with a response that caches may keep for a second, or with a refusal.
 */
export class StandIn {
  readonly #path: string;
  readonly #server: Server;
  #version = 1;
  #refuses = false;
  #requests = 0;

  private constructor(path: string) {
    this.#path = path;
    this.#server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      if (!url.endsWith(path)) {
        response.writeHead(503, { 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
        return;
      }
      this.#requests += 1;
      const common = { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json; charset=utf-8' };
      if (this.#refuses) {
        const body = JSON.stringify({ error: { status: 503, code: trialCode, message: 'A test by almanac doctor.' } });
        response.writeHead(503, { ...common, 'Cache-Control': 'no-store' }).end(method === 'HEAD' ? '' : body);
        return;
      }
      const validators = {
        ETag: this.etag(),
        'Last-Modified': new Date(0).toUTCString(),
        'Cache-Control': trialCacheControl,
        Vary: 'Accept-Encoding',
      };
      if (headers['if-none-match'] === this.etag()) response.writeHead(304, { ...common, ...validators }).end();
      else response.writeHead(200, { ...common, ...validators }).end(method === 'HEAD' ? '' : this.body());
    });
  }

  /** Starts a stand-in. Resolves with null if the address is in use. */
  static async start(host: string, port: number, path: string): Promise<StandIn | null> {
    const standIn = new StandIn(path);
    standIn.#server.listen({ host, port, exclusive: true });
    try {
      await once(standIn.#server, 'listening');
      return standIn;
    } catch {
      return null;
    }
  }

  /** Number of requests for the path so far. */
  get requests(): number {
    return this.#requests;
  }

  etag(): string {
    return `W/"${this.#path.slice(-16)}-${this.#version}"`;
  }

  body(): string {
    return JSON.stringify({ contract: this.#path, version: this.#version });
  }

  /** From now on, refuses the path. */
  refuse(): void {
    this.#refuses = true;
  }

  /** From now on, serves a new version of the response. */
  serve(): void {
    this.#refuses = false;
    this.#version += 1;
  }

  /** Stops listening and closes all connections. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
