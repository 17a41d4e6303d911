import { HttpHost, sendJson } from '../http-host.ts';

const collection = 'app.bsky.labeler.service';
const path = '/xrpc/com.atproto.sync.listReposByCollection';

/** States of a relay. */
type RelayState = 'up' | 'down' | 'html' | 'broken_json' | 'hanging' | 'endless_pages';

/**
 * A relay. It serves `listReposByCollection` for labelers' declarations. Accounts are listed in the order in which
 * their declarations first appeared.
 */
export class Relay {
  state: RelayState = 'up';
  /** Pages that fail: the number of the page, from 0, and the state for each of its next requests. */
  readonly failing = new Map<number, RelayState[]>();
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
        const state = this.#stateFor(target.searchParams);
        this.fired.set(state, (this.fired.get(state) ?? 0) + 1);
        if (state === 'hanging') return;
        if (state === 'down') return sendJson(response, 502, { error: 'UpstreamFailure' });
        if (state === 'broken_json') {
          response.writeHead(200, { 'Content-Type': 'application/json' });
          response.end('{"repos":[{"did":');
          return;
        }
        if (state === 'html') {
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

  /** Returns the state in which a request is answered. */
  #stateFor(params: URLSearchParams): RelayState {
    const page = Math.floor(positionOf(params.get('cursor')) / Math.min(this.pageLimit, Number(params.get('limit'))));
    return this.failing.get(page)?.shift() ?? this.state;
  }

  #page(params: URLSearchParams): { status: number; body: unknown } {
    const refused = (message: string) => ({ status: 400, body: { error: 'InvalidRequest', message } });
    const asked = params.get('collection');
    if (asked === null) return refused('collection is required');
    const limit = Number(params.get('limit') ?? 500);
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= 2000)) return refused('limit must be between 1 and 2000');
    const from = positionOf(params.get('cursor'));
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

/** Decodes a cursor; returns NaN for an invalid one. */
function positionOf(cursor: string | null): number {
  return cursor === null ? 0 : Number(Buffer.from(cursor, 'base64').toString());
}
