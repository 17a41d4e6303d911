import { HttpHost, sendJson } from '../http-host.ts';

/**
 * The server that hosts the labelers' accounts. It serves the records in which the labelers declare their label values.
 */
export class Pds {
  /** Records of the type `app.bsky.labeler.service`, by DID. */
  readonly records = new Map<string, unknown>();
  /** Number of requests for each DID's record. */
  readonly asked = new Map<string, number>();
  /** Origin of the server; empty until it is listening. */
  origin = '';
  readonly #host: HttpHost;

  constructor(nowUs: () => number) {
    this.#host = new HttpHost({
      nowUs,
      request: (_, response, { pathname, searchParams }) => {
        const did = searchParams.get('repo') ?? '';
        const collection = searchParams.get('collection');
        if (pathname !== '/xrpc/com.atproto.repo.getRecord') {
          sendJson(response, 501, { error: 'MethodNotImplemented', message: 'Method Not Implemented' });
          return;
        }
        this.asked.set(did, (this.asked.get(did) ?? 0) + 1);
        const value = searchParams.get('rkey') === 'self' ? this.records.get(did) : undefined;
        if (collection !== 'app.bsky.labeler.service' || value === undefined) {
          sendJson(response, 400, { error: 'RecordNotFound', message: 'Could not locate record' });
          return;
        }
        sendJson(response, 200, { uri: `at://${did}/${collection}/self`, cid: `bafyrei${'a'.repeat(52)}`, value });
      },
    });
  }

  /** Starts listening on a free port. */
  async start(host: string): Promise<void> {
    this.origin = await this.#host.listen(host);
  }

  /** Ends every connection and stops listening. */
  stop(): Promise<void> {
    return this.#host.stop();
  }
}
