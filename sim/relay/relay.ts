import { HttpHost, sendJson } from '../http-host.ts';

const collection = 'app.bsky.labeler.service';
const path = '/xrpc/com.atproto.sync.listReposByCollection';

/** States of a relay. */
export type RelayState = 'up' | 'down' | 'html' | 'hanging' | 'endless_pages';

/**
 * A relay. It serves `listReposByCollection` for labelers' declarations. Accounts are listed in the order in which
 * their declarations first appeared.
 */
export class Relay {
  state: RelayState = 'up';
  /** Maximum number of DIDs per page, even if a request specifies a higher limit. */
  pageLimit = 2000;
  /** Number of requested pages so far. */
  requests = 0;
  readonly fired = new Map<RelayState, number>();
  /**
   * Listed DIDs. Once a relay has seen a record of the collection, it lists the account permanently, even if the
   * account becomes inactive.
   */
  readonly dids: string[] = [];
  readonly #host: HttpHost;

  constructor(nowUs: () => number) {
    this.#host = new HttpHost({
      nowUs,
      request: (_, response, target) => {
        this.requests += 1;
        this.fired.set(this.state, (this.fired.get(this.state) ?? 0) + 1);
        if (this.state === 'hanging') return;
        if (this.state === 'down') return sendJson(response, 502, { error: 'UpstreamFailure' });
        if (this.state === 'html') {
          response.writeHead(200, { 'Content-Type': 'text/html' });
          response.end('<html><body>relay</body></html>');
          return;
        }
        if (target.pathname !== path) return sendJson(response, 404, { error: 'NotFound' });
        const { status, body } = this.#page(target.searchParams);
        sendJson(response, status, body);
      },
    });
  }

  /** Starts listening on a free port. Resolves with the origin. */
  start(host: string): Promise<string> {
    return this.#host.listen(host);
  }

  /** Ends every connection and stops listening. */
  stop(): Promise<void> {
    return this.#host.stop();
  }

  #page(params: URLSearchParams): { status: number; body: unknown } {
    const refused = (message: string) => ({ status: 400, body: { error: 'InvalidRequest', message } });
    const asked = params.get('collection');
    if (asked === null) return refused('collection is required');
    const limit = Number(params.get('limit') ?? 500);
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= 2000)) return refused('limit must be between 1 and 2000');
    const cursor = params.get('cursor');
    const from = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64').toString());
    if (!Number.isInteger(from) || from < 0) return refused('invalid cursor');
    if (asked !== collection) return { status: 200, body: { repos: [] } };
    const to = Math.min(from + Math.min(limit, this.pageLimit), this.dids.length);
    const repos = this.dids.slice(from, to).map((did) => ({ did }));
    if (this.state === 'endless_pages') return { status: 200, body: { repos, cursor: cursorFor(from) } };
    return { status: 200, body: to < this.dids.length ? { repos, cursor: cursorFor(to) } : { repos } };
  }
}

/** Encodes a position as an opaque cursor. */
function cursorFor(position: number): string {
  return Buffer.from(String(position)).toString('base64');
}
