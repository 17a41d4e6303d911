import { createFactsClient, FactsError, StaleCacheError } from '../../src/client/index.ts';

const noon = Date.UTC(2026, 10, 20, 12);

/** Ages of a fact at the time at which the service builds the response, in seconds, and the response's lifetime. */
interface Built {
  readonly age?: number;
  readonly collectionAge?: number;
  readonly control?: string;
}

/** A service whose clock shows noon, and a client whose clock is ahead of it. */
export function scene(aheadSeconds = 0) {
  let [service, ahead] = [noon, aheadSeconds * 1000];
  let response: () => Response = () => new Response('');
  const at = () => new Date(service).toISOString();
  const options = { now: () => service + ahead, fetch: async () => response() };
  let client = createFactsClient('http://a.example', options);
  return {
    advance: (seconds: number) => {
      service += seconds * 1000;
    },
    correctClock: () => {
      ahead = 0;
    },
    /** Changes the service's clock, but not the client's. */
    stepService: (seconds: number) => {
      service += seconds * 1000;
      ahead -= seconds * 1000;
    },
    /** Replaces the client with one that has received nothing. */
    restart: () => {
      client = createFactsClient('http://a.example', options);
    },
    /** Serves a fact that the service builds now, until the next call. */
    serve({ age = 0, collectionAge = 0, control = 'public, max-age=60' }: Built = {}) {
      const limits = { max_age_seconds: 7200, collection_max_age_seconds: 7200 };
      const body = {
        contract: 'atproto.facts.labels.overview/v1',
        generated_at: new Date(service - age * 1000).toISOString(),
        retrieved_at: at(),
        age_seconds: age,
        freshness: { state: 'fresh', age_seconds: age, collection_age_seconds: collectionAge, ...limits },
      };
      const headers = { Date: new Date(service).toUTCString(), 'Cache-Control': control, ETag: 'W/"a"' };
      response = () => Response.json(body, { headers });
    },
    /** Confirms the response of the client with the headers of a cache. */
    confirm() {
      const headers = { 'Cache-Control': 'public, max-age=60' };
      response = () => new Response(null, { status: 304, headers });
    },
    refuse(headers: Readonly<Record<string, string>> = { 'Cache-Control': 'no-store' }) {
      const error = { status: 503, code: 'source_held', message: 'Held.' };
      const date = new Date(service).toUTCString();
      response = () => Response.json({ error }, { status: 503, headers: { Date: date, ...headers } });
    },
    response: () => response,
    replay: (earlier: () => Response) => {
      response = earlier;
    },
    outcome: () =>
      client.labelsOverview().then(
        ({ via }) => [via],
        (error: unknown) => {
          if (error instanceof StaleCacheError)
            return [error.staleness.reason, error.staleness.clock, error.staleness.clockAheadSeconds];
          return [error instanceof FactsError ? error.code : String(error)];
        },
      ),
    error: () => client.labelsOverview().catch((error: unknown) => error),
  };
}
