import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArtifactFixture, fixture } from '../../harness/artifacts/fixtures.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';
import { headerOf as header } from '../../harness/process/metrics.ts';
import type { Reply } from '../../src/http/reply.ts';

/**
 * Path of the tested fact. Each artifact and age bucket has one representation, but freshness is computed for every
 * request.
 */

const overview = '/v1/labels/overview';
const generatedAt = Date.parse('2026-11-20T12:00:00.000Z');

function over(name: ArtifactFixture, changes: object = {}) {
  const facts = factsInMemory(fixtureNow[name]);
  facts.set(name, Buffer.from(JSON.stringify({ ...fixture(name), ...changes })));
  return facts;
}

const body = (reply: Reply) => JSON.parse(reply.body?.toString('utf8') ?? '');

describe('a representation', () => {
  it('is built once per age bucket, and retrieved_at is the time at which it was built', () => {
    const facts = over('recent');
    const first = facts.get(overview, generatedAt + 61_000);
    const last = facts.get(overview, generatedAt + 119_999);
    expect(last).toBe(first);
    expect([body(first).retrieved_at, body(first).age_seconds]).toEqual(['2026-11-20T12:01:01.000Z', 61]);
  });

  it('is at most 60 seconds older than its response', () => {
    const facts = over('recent');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7_000_000 }), (milliseconds) => {
        const now = generatedAt + milliseconds;
        const age = now - Date.parse(body(facts.get(overview, now)).retrieved_at);
        expect(age).toBeGreaterThanOrEqual(0);
        expect(age).toBeLessThan(60_000);
      }),
    );
  });

  it('contains no unpaired surrogate, because clients would reject the whole document', () => {
    const facts = over('recent', { caveats: ['cut \ud83d here'] });
    const text = facts.get(overview, generatedAt).body?.toString('utf8') ?? '';
    expect(text).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.parse(text).caveats).toContain('cut \ufffd here');
  });

  it('is replaced in the next age bucket, with another validator and age', () => {
    const facts = over('recent');
    const first = facts.get(overview, generatedAt + 119_999);
    const next = facts.get(overview, generatedAt + 120_000);
    expect(header(next, 'ETag')).not.toBe(header(first, 'ETag'));
    expect(body(next).age_seconds).toBe(120);
  });

  it('has the same validator in two applications that built it at different times', () => {
    const one = over('recent').get(overview, generatedAt + 61_000);
    const other = over('recent').get(overview, generatedAt + 90_000);
    expect(header(other, 'ETag')).toBe(header(one, 'ETag'));
    expect(body(other).retrieved_at).not.toBe(body(one).retrieved_at);
  });

  it('is rebuilt after the clock is set back, so that retrieved_at is never in the future', () => {
    const facts = over('recent');
    facts.get(overview, generatedAt + 110_000);
    expect(body(facts.get(overview, generatedAt + 70_000)).retrieved_at).toBe('2026-11-20T12:01:10.000Z');
  });

  it('is refused as soon as the artifact is too old, even within an age bucket', () => {
    const facts = over('recent', {
      coverage: { ...(fixture('recent').coverage as object), observed_through: '2026-11-20T12:00:00Z' },
    });
    expect(facts.get(overview, generatedAt + 7_200_000).status).toBe(200);
    expect(facts.get(overview, generatedAt + 7_200_001).status).toBe(503);
    expect(facts.get(overview, generatedAt + 7_200_000).status).toBe(200);
  });

  it("has a Last-Modified that is not later than its Date, even if the writer's clock is ahead", () => {
    // Set the clock before the modification time of the artifact, which is the time of the fixture.
    const early = fixtureNow.recent - 15_000;
    const reply = over('recent').get(overview, early);
    expect(Date.parse(header(reply, 'Last-Modified') ?? '')).toBeLessThanOrEqual(early);
    const late = over('recent').get(overview, fixtureNow.recent + 15_000);
    expect(Date.parse(header(late, 'Last-Modified') ?? '')).toBe(fixtureNow.recent);
  });

  it('belongs to a negative age bucket if its artifact is dated in the future', () => {
    const facts = over('recent');
    const ahead = facts.get(overview, generatedAt - 1);
    expect([ahead.status, body(ahead).age_seconds]).toEqual([200, -0.001]);
    expect(header(ahead, 'ETag')).not.toBe(header(facts.get(overview, generatedAt), 'ETag'));
  });
});

describe('the weather metrics', () => {
  const metrics = '/v1/weather/metrics';

  it('have the minute of the request as their age bucket if the artifact has no generation time', () => {
    const facts = over('weather', { generated_at: null });
    const minute = Date.parse('2026-11-21T08:15:00Z');
    const first = facts.get(metrics, minute);
    expect(facts.get(metrics, minute + 59_999)).toBe(first);
    expect(header(facts.get(metrics, minute + 60_000), 'ETag')).not.toBe(header(first, 'ETag'));
    expect([body(first).generated_at, body(first).age_seconds]).toEqual([null, null]);
  });

  it('are served at any age, and have a caveat if their generation time is in the future', () => {
    const facts = over('weather');
    expect(facts.get(metrics, generatedAt + 400 * 86_400_000).status).toBe(200);
    const ahead = body(facts.get(metrics, generatedAt - 86_400_000));
    expect(ahead.age_seconds).toBe(-86_405);
    expect(ahead.caveats.at(-1)).toMatch(/ahead of this service's clock/);
  });
});

describe('a fact that contains an identity', () => {
  it('causes only one alarm for any number of requests, which states the location but not the identity', () => {
    const facts = over('weather', { measures: 'what did:plc:ar7c4by46qjdydhdevvrndac did' });
    for (let n = 0; n < 5; n++) expect(facts.get('/v1/weather/metrics').status).toBe(500);
    expect(facts.alarms.map(String)).toEqual(['PrivacyAlarm: refused to publish: a DID is at /provenance/measures']);
  });
});
