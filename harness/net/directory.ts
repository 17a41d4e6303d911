import { createServer } from 'node:http';
import { listenForTest } from './listen.ts';

/** Response of a directory for one path: a document, or a status with an arbitrary body. */
type Entry = { readonly document: unknown } | { readonly status: number; readonly body?: string };

/**
 * A server of DID documents. It serves `/<did>` like a PLC directory, and `/.well-known/did.json` like a did:web host.
 */
export interface Directory {
  /** URL without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly entries: Map<string, Entry>;
  /** Paths that were requested, in order. */
  readonly asked: string[];
  /** Delays all responses until the promise resolves. */
  hold(until: Promise<void>): void;
}

/**
 * Starts a directory on a free loopback port. It runs until the test ends. For an unknown path, it returns the same 404
 * response as the public directory.
 */
export async function startDirectory(entries: Readonly<Record<string, Entry>> = {}): Promise<Directory> {
  const known = new Map(Object.entries(entries));
  const asked: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const entry = known.get(path) ?? { status: 404, body: JSON.stringify({ message: `DID not registered: ${path}` }) };
    void held.then(() => {
      if ('status' in entry) {
        response.writeHead(entry.status).end(entry.body);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/did+ld+json; charset=utf-8' });
      response.end(JSON.stringify(entry.document));
    });
  });
  const { port } = await listenForTest(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    entries: known,
    asked,
    hold(until) {
      held = until;
    },
  };
}
