import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pythonClient, runsPython } from '../../harness/packages/python.ts';
import { AnswerError, createFactsClient, FactsError, StaleCacheError } from '../../src/client/index.ts';
import { canonicalJson } from '../../src/contract/encodings.ts';

/** Compares the clients of both languages over random sequences of responses. */

interface Step {
  /** Seconds by which the clock advances before the call. */
  readonly advance: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const noon = Date.UTC(2026, 10, 20, 12) / 1000;
const contract = 'atproto.facts.labels.overview/v1';

const times = ['12:00:00.000Z', '12:00:00Z', '12:00:00.5Z', '12:00:00.123456Z', '12:00:30+00:00', '11:59:59.999Z'];
const freshness = [
  { state: 'fresh', max_age_seconds: 7200 },
  { state: 'fresh', max_age_seconds: 60, collection_age_seconds: 30, collection_max_age_seconds: 7200 },
  { state: 'fresh', max_age_seconds: 7200, collection_age_seconds: 30.5, collection_max_age_seconds: 10 },
  { max_age_seconds: true, collection_age_seconds: '9' },
  [],
  null,
];
const fact = fc.record({
  contract: fc.constantFrom(contract, contract, contract, contract, 'x/v2'),
  generated_at: fc.constantFrom(...times.map((time) => `2026-11-20T${time}`), 'yesterday', null),
  age_seconds: fc.constantFrom(0, 30, 30, -5, null),
  provenance: fc.constantFrom({ source_endpoint: 'a' }, { source_endpoint: 'a' }, { source_endpoint: 'b' }, {}),
  facts: fc.constantFrom({}, { acquisition: { generation_id: 'g' } }),
  retrieved_at: fc.constantFrom(...times.map((time) => `2026-11-20T${time}`), '2026-11-20T12:10:00Z', null, 7),
  freshness: fc.constantFrom(...freshness),
});
const refusal = fc.record({
  error: fc.record(
    {
      code: fc.constantFrom('source_held', 'a_later_code', 7),
      message: fc.constantFrom('Held.', null),
      freshness: fc.constantFrom({ state: 'held' }, { state: 1 }, [], null),
    },
    { requiredKeys: ['code'] },
  ),
});
const body = fc.oneof(
  { weight: 6, arbitrary: fact.map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: refusal.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('', '[]', 'null', '{', '<h1>', '{"error":1}', '{"contract":NaN}', '"text"') },
);
const controls = [
  'max-age=60',
  'public, MAX-AGE=5',
  'no-store, max-age=60',
  'max-age=60, no-cache',
  'max-age=-1',
  'no-store',
];
const oddControls = [
  'max-age= 7',
  'max-age="60"',
  'max-age=9999999',
  'private',
  'max-age=1, max-age=60',
  ',',
  's-maxage=900',
];
const waits = [
  '30',
  '0',
  '-3',
  '1.5',
  '99999',
  'soon',
  '',
  'Fri, 20 Nov 2026 12:01:00 GMT',
  'Fri, 20 Nov 2026 11:00:00 GMT',
];
const dates = [
  'Fri, 20 Nov 2026 12:00:10 GMT',
  'Fri, 20 Nov 2026 11:59:00 GMT',
  'Fri, 20 Nov 2026 13:00:00 GMT',
  'soon',
];
const headers = fc.record(
  {
    'cache-control': fc.constantFrom(...controls, ...oddControls),
    age: fc.constantFrom('5', ' 59 ', '-1', '1.5', '99999', 'x'),
    etag: fc.constantFrom('W/"a"', 'W/"b"', '"c"'),
    'retry-after': fc.constantFrom(...waits),
    date: fc.constantFrom(...dates),
  },
  { requiredKeys: [] },
);
const step: fc.Arbitrary<Step> = fc
  .record({
    advance: fc.constantFrom(0, 1, 4, 30, 60, 899, 901, 4000, -10),
    status: fc.constantFrom(200, 200, 200, 200, 304, 304, 503, 429, 404, 500),
    headers,
    body,
  })
  // Remove the body of a 304, which cannot have a body.
  .map((next) => (next.status === 304 ? { ...next, body: '' } : next));

/** Responses of a service whose clock is sometimes ahead, with repeated ones of earlier steps. */
const world: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record({
      advance: fc.constantFrom(60, 60, 60, 30, 61, 120, 181, 600, -3600),
      ahead: fc.constantFrom(0, 0, 0, 0, 0, 90, 3600, 86_400),
      repeated: fc.option(fc.nat(), { freq: 4 }),
      refuses: fc.integer({ min: 0, max: 9 }),
      control: fc.constantFrom('max-age=60', 'max-age=60', 'max-age=0', 'max-age=60, s-maxage=300'),
    }),
    { minLength: 5, maxLength: 30 },
  )
  .map((events) => {
    let service = noon;
    let ahead = 0;
    const steps: Step[] = [];
    for (const [index, { advance, ahead: next, repeated, refuses, control }] of events.entries()) {
      service += advance;
      // The clock keeps its error for some responses.
      if (index % 5 === 0) ahead = next;
      const at = new Date((service + ahead) * 1000);
      const earlier = repeated === null ? undefined : steps[repeated % steps.length];
      const age_seconds = 30;
      const limits = { max_age_seconds: 7200 };
      const error = { code: 'source_held', message: 'Held.' };
      const date = at.toUTCString();
      if (earlier) steps.push({ ...earlier, advance });
      else if (refuses === 0)
        steps.push({
          ...{ advance, status: 503, headers: { date, 'cache-control': 'no-store' } },
          body: JSON.stringify({ error }),
        });
      else
        steps.push({
          ...{ advance, status: 200, headers: { date, 'cache-control': control } },
          body: JSON.stringify({ contract, retrieved_at: at.toISOString(), age_seconds, freshness: limits }),
        });
    }
    return steps;
  });

async function replay(steps: readonly Step[]) {
  let now = noon;
  let sent: (string | null)[] = [];
  let current: Step | undefined;
  const client = createFactsClient('http://a.example/base/', {
    now: () => now * 1000,
    fetch: async (_url, init) => {
      sent.push(new Headers(init?.headers).get('If-None-Match'));
      const { status, headers, body } = current ?? { status: 500, headers: {}, body: '' };
      return new Response(body || null, { status, headers });
    },
  });
  const trace: { outcome: unknown[]; sent: (string | null)[] }[] = [];
  for (const next of steps) {
    now += next.advance;
    [current, sent] = [next, []];
    const outcome = await client.labelsOverview().then(
      ({ via, value, receivedAt, confirmedAt }) => [via, canonicalJson(value), receivedAt / 1000, confirmedAt / 1000],
      (error: unknown) => {
        if (error instanceof FactsError) {
          const { name, status, code, message, retryAfterSeconds, freshness } = error;
          return [name, status, code, message, retryAfterSeconds, freshness?.state ?? null];
        }
        if (error instanceof StaleCacheError) return [error.name, error.message, ...Object.values(error.staleness)];
        if (error instanceof AnswerError) return [error.name, error.status, error.message, error.retryAfterSeconds];
        throw error;
      },
    );
    trace.push({ outcome, sent });
  }
  return trace;
}

/** Replays sequences with both clients, which must behave alike, and returns the outcomes that occurred. */
async function outcomesOf(sequences: readonly (readonly Step[])[]): Promise<unknown[]> {
  const { stdout, stderr } = spawnSync('python3', ['-m', 'tests.replay'], {
    cwd: pythonClient,
    env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1' },
    input: JSON.stringify({ noon, sequences }),
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  expect(stderr).toBe('');
  const replayed = JSON.parse(stdout) as unknown[];
  const seen = new Set<unknown>();
  for (const [index, steps] of sequences.entries()) {
    const expected = await replay(steps);
    for (const { outcome } of expected) seen.add(outcome[0]);
    expect(replayed[index], JSON.stringify(steps)).toEqual(expected);
  }
  return [...seen].sort();
}

describe.skipIf(!runsPython)('the clients in TypeScript and Python', () => {
  it('return the same results, send the same requests and raise the same errors for 1,000 random sequences of responses', async () => {
    const sequences = fc.sample(fc.array(step, { minLength: 1, maxLength: 12 }), { numRuns: 1000 });
    const outcomes = ['AnswerError', 'FactsError', 'StaleCacheError', 'fetched', 'kept', 'kept_newer', 'revalidated'];
    expect(await outcomesOf(sequences)).toEqual(outcomes);
  });

  it('behave alike for 1,000 random sequences of responses of a service whose clock is sometimes ahead', async () => {
    const sequences = fc.sample(world, { numRuns: 1000 });
    expect(await outcomesOf(sequences)).toEqual(['FactsError', 'StaleCacheError', 'fetched', 'kept']);
  });
});
