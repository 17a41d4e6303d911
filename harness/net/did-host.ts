import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A labeler whose DID document is in the directory. */
export interface HostedDid {
  readonly endpoint: string;
  readonly publicKeyMultibase: string;
}

/** A did:plc directory on a loopback address. */
export interface DidHost {
  readonly url: string;
  readonly documents: Map<string, HostedDid>;
  stop(): Promise<void>;
}

/** Starts an empty directory. */
export async function startDidHost(): Promise<DidHost> {
  const documents = new Map<string, HostedDid>();
  const server = createServer((request, response) => {
    const did = (request.url ?? '').slice(1);
    const known = documents.get(did);
    if (!known) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        id: did,
        service: [{ id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: known.endpoint }],
        verificationMethod: [
          {
            id: `${did}#atproto_label`,
            type: 'Multikey',
            controller: did,
            publicKeyMultibase: known.publicKeyMultibase,
          },
        ],
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
