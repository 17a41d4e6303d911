import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Data of an account as the directory's `/data` returns it. */
interface DirectoryData {
  readonly did: string;
  readonly verificationMethods: Readonly<Record<string, string>>;
  readonly alsoKnownAs: readonly string[];
  readonly services: Readonly<Record<string, { readonly type: string; readonly endpoint: string }>>;
}

/** Returns the document of an account in the form that the public directory serves. */
function documentOf({ did, verificationMethods, alsoKnownAs, services }: DirectoryData): object {
  return {
    '@context': [
      'https://www.w3.org/ns/did/v1',
      'https://w3id.org/security/multikey/v1',
      'https://w3id.org/security/suites/secp256k1-2019/v1',
    ],
    id: did,
    alsoKnownAs,
    verificationMethod: Object.entries(verificationMethods).map(([name, key]) => ({
      id: `${did}#${name}`,
      type: 'Multikey',
      controller: did,
      publicKeyMultibase: key.replace('did:key:', ''),
    })),
    service: Object.entries(services).map(([name, { type, endpoint }]) => ({
      id: `#${name}`,
      type,
      serviceEndpoint: endpoint,
    })),
  };
}

/** A server in front of another one. */
interface Front {
  readonly server: Server;
  readonly port: number;
  close(): void;
}

/** Starts a front that responds with the status and type of the server behind it, and with the text from `ask`. */
async function startFront(ask: (path: string) => Promise<{ answer: Response; body: string }>): Promise<Front> {
  const server = createServer((request, response) => {
    void ask(request.url ?? '/')
      .then(({ answer, body }) => {
        const type = answer.headers.get('Content-Type') ?? 'text/plain';
        response.writeHead(answer.status, { 'Content-Type': type }).end(body);
      })
      .catch(() => response.writeHead(502).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Starts a front of a directory that serves the documents in the present form. The published package of the directory
 * still serves keys in a form of 2023, which Jetstream cannot read. Everything else is passed on.
 */
export async function startDirectory(plc: string): Promise<{ readonly url: string; close(): void }> {
  const { port, close } = await startFront(async (path) => {
    const isDocument = /^\/did:plc:[a-z2-7]{24}$/.test(path);
    const answer = await fetch(`${plc}${path}${isDocument ? '/data' : ''}`);
    const text = await answer.text();
    const body = isDocument && answer.ok ? JSON.stringify(documentOf(JSON.parse(text) as DirectoryData)) : text;
    return { answer, body };
  });
  return { url: `http://127.0.0.1:${port}`, close };
}

/** A front of a labeler that serves its pages and refuses its stream. */
interface PageFront {
  readonly url: string;
  /** Number of pages that were requested. */
  readonly pages: number;
  close(): void;
}

/** Starts a front of the labeler at a URL. */
export async function startPageFront(target: string): Promise<PageFront> {
  let pages = 0;
  const { server, port, close } = await startFront(async (path) => {
    pages += 1;
    const answer = await fetch(`${target}${path}`);
    return { answer, body: await answer.text() };
  });
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\n\r\n'));
  return {
    url: `http://localhost:${port}`,
    get pages() {
      return pages;
    },
    close,
  };
}
