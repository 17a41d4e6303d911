import { describe, expect, it } from 'vitest';
import { fixture, type JsonObject } from '../../harness/artifacts/fixtures.ts';
import { aWeatherSummary, aWeatherwatchSummary } from '../../harness/artifacts/overviews.ts';
import { projectWeather } from './project-weather.ts';

const ours = (changes: object = {}) =>
  projectWeather({ schema: 'weather.summary.v1', summary: aWeatherSummary(changes) }, false);
const theirs = (changes: object = {}) =>
  projectWeather({ schema: 'weatherwatch.summary/v2', summary: aWeatherwatchSummary(changes) }, false);

/** Caveats of all weather facts of the live network. */
const fixedCaveats = [
  'Counts cover what one stream host delivered to one observer. They are never an estimate of what occurred.',
  'Rates divide by observed time; unobserved time is omitted, never interpolated.',
  'Events are counted, not accounts: participant turnover is unavailable by construction.',
  'A re-delivery under a new position cannot be distinguished from a new event.',
  'The instrument computed the freshness at generated_at: add age_seconds to get the age now.',
];

describe("the projection of Almanac's weather summary", () => {
  const summary = fixture('weather');

  it("publishes the artifact's values under the contract's names", () => {
    const { conditions, window, total_events, collections, freshness, measures, does_not_measure } = summary;
    expect(ours()).toEqual({
      conditions,
      window,
      totalEvents: total_events,
      collections,
      freshness,
      provenance: {
        instrument: 'weather',
        method: 'jetstream_windows',
        artifact_schema_version: 'weather.summary.v1',
        origin: 'live',
        source_endpoint: 'wss://jetstream1.us-east.bsky.network/subscribe',
        measures,
        does_not_measure,
      },
      caveats: fixedCaveats,
    });
  });

  it("publishes the artifact's protocol and its own caveats", () => {
    const source = { endpoint: 'wss://host.example/x', method: 'jetstream', wire: 'jetstream.subscribeEvents' };
    const { provenance, caveats } = ours({ source, caveats: ['a limit'] });
    expect(provenance.wire).toBe('jetstream.subscribeEvents');
    expect(caveats).toEqual([...fixedCaveats, 'a limit']);
  });

  it('omits collections that the contract does not name', () => {
    const like = (summary.collections as JsonObject)['like.create'];
    expect(ours({ collections: { 'like.create': like, 'poke.create': like, toString: like } }).collections).toEqual({
      'like.create': like,
    });
  });

  it('publishes a collection or total that was not observed as null, never as zero', () => {
    const never = {
      total: 0,
      mean_rate_per_s: null,
      observed_seconds: 0,
      observed_windows: 0,
      unobserved_windows: 1440,
    };
    const { collections, totalEvents } = ours({
      collections: { 'like.create': never, 'post.create': null },
      total_events: { total: 0, mean_rate_per_s: null, observed_seconds: 0 },
    });
    expect(collections).toEqual({ 'like.create': null, 'post.create': null });
    expect(totalEvents).toEqual({ total: null, mean_rate_per_s: null, observed_seconds: 0 });
  });

  it('publishes a collection or total that was not observed as null, even if the artifact contains a rate of zero', () => {
    const like = { total: 0, mean_rate_per_s: 0, observed_seconds: 5, observed_windows: 0, unobserved_windows: 9 };
    const zero = { total: 0, mean_rate_per_s: 0, observed_seconds: 0 };
    const published = ours({ collections: { 'like.create': like }, total_events: zero });
    expect(published.collections).toEqual({ 'like.create': null });
    expect(published.totalEvents).toEqual({ total: null, mean_rate_per_s: null, observed_seconds: 0 });
    const unwatched = { ...(summary.window as JsonObject), observed_seconds: 0 };
    expect(ours({ window: unwatched }).totalEvents).toMatchObject({ total: null, mean_rate_per_s: null });
  });

  it.each([
    'wss://user:secret@host.example/subscribe?wantedDids=x#y',
    'wss://user@host.example/subscribe',
    'wss://:secret@host.example/subscribe',
    'wss://host.example/subscribe?wantedDids=x',
    'wss://host.example/subscribe#y',
  ])('publishes the endpoint without credentials, query or fragment: %s', (endpoint) => {
    expect(ours({ source: { endpoint, method: 'jetstream' } }).provenance.source_endpoint).toBe(
      'wss://host.example/subscribe',
    );
  });

  it.each([
    'wss://user:secret@host.example:99999/subscribe',
    'user:secret@host.example',
    'postgres://user:secret@host.example/db',
    'not an address',
  ])('omits an endpoint that is not a stream address: %s', (endpoint) => {
    expect(ours({ source: { endpoint, method: 'jetstream' } }).provenance).not.toHaveProperty('source_endpoint');
  });

  it('publishes an unusable time of the conditions or of the freshness as null', () => {
    const published = ours({
      conditions: { ...(summary.conditions as JsonObject), as_of: '2026-11-20T13:00:00+01:00' },
      freshness: { ...(summary.freshness as JsonObject), newest_observation_end: 'soon' },
    });
    expect(published.conditions?.as_of).toBeNull();
    expect(published.freshness.newest_observation_end).toBeNull();
  });

  it('always lists turnover as not measured', () => {
    expect(ours({ does_not_measure: ['content'] }).provenance.does_not_measure).toEqual([
      'content',
      'participant turnover',
    ]);
  });
});

describe('the projection of the weatherwatch summary', () => {
  const summary = fixture('weatherwatch');
  const conditions = summary.conditions as JsonObject;

  it('publishes only the parts that the contract names', () => {
    expect(theirs()).toEqual({
      conditions: {
        state: 'active',
        label: 'Active',
        headline: 'Active',
        sentence: 'Somewhat busier than this hour usually is.',
        confidence: 'thin',
        as_of: '2026-08-28T14:05:00+00:00',
      },
      window: {
        start: '2026-08-28T13:53:00.000Z',
        end: '2026-08-28T14:05:00.000Z',
        span_seconds: 720,
        observed_seconds: 612.404235,
        coverage_ratio: 0.850561,
      },
      totalEvents: { total: 319696, mean_rate_per_s: 522.0343 },
      collections: summary.metrics,
      freshness: {
        state: 'current',
        newest_observation_end: '2026-08-28T14:05:00Z',
        newest_complete_observation_end: '2026-08-28T14:05:00Z',
        age_seconds: 21.604118,
        max_age_seconds: 660,
        basis: 'provisional: twice the 5-minute publish period plus one bucket',
      },
      provenance: {
        instrument: 'weather',
        method: 'jetstream_windows',
        artifact_schema_version: 'weatherwatch.summary/v2',
        source_endpoint: 'wss://jetstream1.us-east.bsky.network/subscribe',
        measures: summary.measures,
        does_not_measure: [...(summary.does_not_measure as string[]), 'participant turnover'],
      },
      caveats: fixedCaveats,
    });
  });

  it('publishes null conditions and an empty as_of as null', () => {
    expect(theirs({ conditions: null }).conditions).toBeNull();
    expect(theirs({ conditions: { ...conditions, as_of: '' } }).conditions?.as_of).toBeNull();
  });

  it('publishes a dash in place of a time, and the missing bounds of a window, as null', () => {
    const published = theirs({
      freshness: {
        state: 'unavailable',
        newest_observation_end: '—',
        newest_complete_observation_end: '—',
        age_seconds: null,
      },
      interval: {
        first_bucket_start: null,
        last_bucket_end: null,
        span_seconds: 0,
        observed_seconds: 0,
        coverage_ratio: null,
      },
    });
    expect(published.freshness).toEqual({
      state: 'unavailable',
      newest_observation_end: null,
      newest_complete_observation_end: null,
      age_seconds: null,
      max_age_seconds: null,
      basis: null,
    });
    expect(published.window).toEqual({
      start: null,
      end: null,
      span_seconds: 0,
      observed_seconds: 0,
      coverage_ratio: null,
    });
    expect(published.totalEvents.total).toBeNull();
  });
});
