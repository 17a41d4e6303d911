import { expect, it } from 'vitest';
import { factFetcher } from './fetch-fact.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const path = '/v1/labels/overview';

/** A fetcher whose clock and responses the test chooses. */
function archive() {
  const expired: string[] = [];
  let now = noon;
  let response: () => Response = () => new Response('');
  const fetchFact = factFetcher({
    ...{ base: 'http://a.example', userAgent: 'Almanac/test', timeoutMs: 10_000, stop: new AbortController().signal },
    fetch: async () => response(),
    clock: () => now,
    onExpired: (why) => expired.push(why),
  });
  const built = (status: number, body: object, control: string): (() => Response) => {
    const headers = { Date: new Date(now).toUTCString(), 'Cache-Control': control };
    return () => Response.json(body, { status, headers });
  };
  return {
    expired,
    advance: (seconds: number) => {
      now += seconds * 1000;
    },
    fact(age = 0): () => Response {
      const freshness = { state: 'fresh', age_seconds: age, max_age_seconds: 7200 };
      const times = { retrieved_at: new Date(now).toISOString(), age_seconds: age, freshness };
      return built(200, { contract: 'atproto.facts.labels.overview/v1', ...times }, 'public, max-age=60');
    },
    refusal: () => built(503, { error: { status: 503, code: 'source_held', message: 'held' } }, 'no-store'),
    async fetched(next: () => Response): Promise<string> {
      response = next;
      const result = await fetchFact(path);
      return result.kind === 'failure' ? result.failure : String(result.served.status);
    },
  };
}

it('a response that a cache repeats although it has expired is not a response of the facts API', async () => {
  const { fact, fetched, advance, expired } = archive();
  const old = fact();
  expect(await fetched(old)).toBe('200');
  advance(3600);
  expect(await fetched(old)).toBe('unreachable');
  expect(expired).toEqual([expect.stringMatching(/built 3600 s ago.*CacheStaleOnError off/)]);
  expect(await fetched(fact())).toBe('200');
});

it('a response from before a refusal is not archived after it, however young it is', async () => {
  const { fact, refusal, fetched, advance } = archive();
  const old = fact();
  advance(5);
  expect(await fetched(refusal())).toBe('503');
  expect(await fetched(old)).toBe('unreachable');
});

it('a response whose artifact has exceeded its limit in a cache is not archived', async () => {
  const { fact, fetched, advance } = archive();
  const old = fact(7190);
  advance(71);
  expect(await fetched(old)).toBe('unreachable');
});

it.each(['fact', 'refusal'] as const)(
  'after both clocks were ahead and are set back, responses are archived within minutes (%s)',
  async (kind) => {
    const archived = archive();
    const { fact, fetched, advance } = archived;
    expect(await fetched(fact())).toBe('200');
    advance(10_800);
    expect(await fetched(archived[kind]())).toBe(kind === 'fact' ? '200' : '503');
    advance(-7_200);
    const outcomes: string[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      outcomes.push(await fetched(fact()));
      advance(60);
    }
    expect(outcomes).toEqual(['unreachable', 'unreachable', 'unreachable', '200', '200']);
  },
);
