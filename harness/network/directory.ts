import { createServer } from 'node:http';
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

/**
 * Starts a front of a directory that serves the documents in the present form. The published package of the directory
 * still serves keys in a form of 2023, which Jetstream cannot read. Everything else is passed on.
 */
export async function startDirectory(plc: string): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '/';
      const isDocument = /^\/did:plc:[a-z2-7]{24}$/.test(path);
      const answer = await fetch(`${plc}${path}${isDocument ? '/data' : ''}`);
      const type = answer.headers.get('Content-Type') ?? 'application/json';
      const text = await answer.text();
      const body = isDocument && answer.ok ? JSON.stringify(documentOf(JSON.parse(text) as DirectoryData)) : text;
      response.writeHead(answer.status, { 'Content-Type': type }).end(body);
    })().catch(() => response.writeHead(502).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
