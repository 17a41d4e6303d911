import { describe, expect, it } from 'vitest';
import { type ArtifactFixture, fixture, type JsonObject } from '../../../harness/artifacts/fixtures.ts';
import { factsInMemory, fixtureNow } from '../../../harness/process/facts.ts';
import { headerOf } from '../../../harness/process/metrics.ts';
import { factMetrics } from './fact-metrics.ts';

const now = fixtureNow.recent;

function over(artifacts: Partial<Record<ArtifactFixture, JsonObject>>) {
  const facts = factsInMemory(now);
  for (const [name, artifact] of Object.entries(artifacts)) {
    facts.set(name as ArtifactFixture, Buffer.from(JSON.stringify(artifact)));
  }
  const reply = (at = now) => facts.get(factMetrics.path, at);
  return { ...facts, reply, series: (at = now) => seriesOf(reply(at).body?.toString('utf8') ?? '') };
}

/** Returns the values in a metrics text by series, without metadata. */
function seriesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const current = () => over({ recent: fixture('recent'), weather: fixture('weather') });

describe('the format of the metrics', () => {
  const openMetrics = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
  const text = 'text/plain; version=0.0.4; charset=utf-8';

  it.each([
    [undefined, openMetrics],
    ['*/*', openMetrics],
    ['text/html, */*;q=0.8', openMetrics],
    ['application/json', openMetrics],
    ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1', openMetrics],
    ['text/plain', text],
    ['text/plain;version=0.0.4', text],
    ['application/openmetrics-text;version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1', text],
    ['application/openmetrics-text;q=0.1, text/*', text],
    ['text/plain, */*;q=0.1', text],
  ])('is the one that the client prefers (Accept: %s)', (accept, type) => {
    const reply = current().get(factMetrics.path, now, { accept });
    expect([reply.status, headerOf(reply, 'Content-Type'), headerOf(reply, 'Vary')]).toEqual([
      200,
      type,
      'Accept, Accept-Encoding',
    ]);
  });

  it('does not change the series', () => {
    const facts = current();
    const plain = facts.get(factMetrics.path, now, { accept: 'text/plain' }).body?.toString('utf8') ?? '';
    expect(seriesOf(plain)).toEqual(facts.series());
  });

  it('determines the validator, so that no cache confuses the formats', () => {
    const facts = current();
    const [open, plain] = [undefined, 'text/plain'].map((accept) => facts.get(factMetrics.path, now, { accept }));
    const ifNoneMatch = open === undefined ? '' : headerOf(open, 'ETag');
    expect(facts.get(factMetrics.path, now, { ifNoneMatch }).status).toBe(304);
    expect(facts.get(factMetrics.path, now, { ifNoneMatch, accept: 'text/plain' }).status).toBe(200);
    expect(plain && headerOf(plain, 'ETag')).not.toBe(ifNoneMatch);
  });
});

describe('the metrics of the facts', () => {
  it('contain the numbers of the facts', () => {
    expect(current().series()).toMatchObject({
      'almanac_fact_served{fact="labels_overview",origin="live"}': 1,
      'almanac_fact_age_seconds{fact="weather_metrics",origin="live"}': 25,
      'almanac_fact_generated_timestamp_seconds{fact="labels_overview",origin="live"}':
        Date.UTC(2026, 10, 20, 12) / 1000,
      'almanac_fact_weather_condition{origin="live",almanac_fact_weather_condition="active"}': 1,
      'almanac_fact_weather_condition{origin="live",almanac_fact_weather_condition="calm"}': 0,
      'almanac_fact_weather_coverage_ratio{origin="live"}': 0.997815,
      'almanac_fact_weather_events_per_second{origin="live"}': 330.4,
      'almanac_fact_weather_collection_events{origin="live",collection="like.create"}': 18431965,
      'almanac_fact_labels_events{origin="live",span="24h"}': 1391204,
      'almanac_fact_labels_observed_seconds{origin="live"}': 30 * 86_400,
      'almanac_fact_labels_coverage{origin="live",almanac_fact_labels_coverage="gapped"}': 1,
      'almanac_fact_labels_gaps{origin="live"}': 2,
      'almanac_fact_labels_skipped_rows{origin="live",reason="late"}': 90211,
    });
  });

  it('contain nothing about a refused fact except its refusal', () => {
    const { set, series } = current();
    set('recent', Buffer.from(JSON.stringify({ ...fixture('recent'), hold: true })));
    const names = Object.keys(series());
    expect(names.filter((name) => /labels/.test(name))).toEqual([
      'almanac_fact_served{fact="labels_overview",origin="live"}',
      'almanac_fact_refused{fact="labels_overview",origin="live",code="source_held"}',
    ]);
    expect(names).toContain('almanac_fact_weather_events{origin="live"}');
    expect(Object.keys(over({}).series())).toHaveLength(6);
  });

  it('contain nothing about a weather fact that is no longer current except its ages and its state', () => {
    const names = Object.keys(current().series(now + 7_200_000)).filter((name) => /weather/.test(name));
    expect(names.filter((name) => !/fact="weather_/.test(name))).toEqual([]);
    const { series } = over({ weather: fixture('weather') });
    expect(series(now + 7_200_000)).toMatchObject({
      'almanac_fact_age_seconds{fact="weather_metrics",origin="live"}': 7225,
      'almanac_fact_weather_currency{fact="weather_metrics",origin="live",almanac_fact_weather_currency="old"}': 1,
    });
  });

  it('omit a series whose number is unknown', () => {
    const weather = fixture('weather');
    const collections = { ...(weather.collections as JsonObject), 'like.create': null };
    const total = { total: null, mean_rate_per_s: null, observed_seconds: 0 };
    const names = Object.keys(over({ weather: { ...weather, collections, total_events: total } }).series());
    expect(names.filter((name) => name.includes('collection="post.create"'))).toHaveLength(3);
    expect(names.filter((name) => /collection_events.*like\.create/.test(name))).toEqual([]);
    expect(names.filter((name) => name.startsWith('almanac_fact_weather_events'))).toEqual([]);
  });

  it('state that a collection without any observed time was observed for zero seconds', () => {
    const weather = fixture('weather');
    const { 'like.delete': _, ...others } = weather.collections as JsonObject;
    const series = over({ weather: { ...weather, collections: { ...others, 'like.create': null } } }).series();
    const own = (collection: string) =>
      Object.entries(series).filter(([name]) => name.includes(`collection="${collection}"`));
    expect(own('like.create')).toEqual([
      ['almanac_fact_weather_collection_observed_seconds{origin="live",collection="like.create"}', 0],
    ]);
    expect(own('like.delete')).toEqual([]);
  });

  it('state the origin of a refused fact, as far as it is known', () => {
    const { set, series } = over({ recent: { ...fixture('recent'), origin: 'simulated' } });
    const at = now + 7_200_001;
    expect(Object.keys(series(at)).filter((name) => /labels/.test(name))).toEqual([
      'almanac_fact_served{fact="labels_overview",origin="simulated"}',
      'almanac_fact_refused{fact="labels_overview",origin="simulated",code="source_stale"}',
    ]);
    set('recent', null);
    expect(series(at)).toMatchObject({
      'almanac_fact_refused{fact="labels_overview",origin="simulated",code="source_unavailable"}': 1,
      'almanac_fact_refused{fact="weather_metrics",code="source_unavailable"}': 1,
    });
  });

  it('never add simulated data to a live series', () => {
    const text =
      over({ weather: { ...fixture('weather'), origin: 'simulated' } })
        .reply()
        .body?.toString() ?? '';
    expect(text).toContain('almanac_fact_weather_events{origin="simulated"} 28484197');
    expect(text).not.toContain('origin="live"');
  });

  it('do not name any labeler', () => {
    expect(current().reply().body?.toString()).not.toContain('did:');
  });

  it('contain the number of labelers and the weather events of the legacy producers', () => {
    const at = fixtureNow.legacy;
    expect(over({ legacy: fixture('legacy') }).series(at)).toMatchObject({
      'almanac_fact_labels_known_labelers{origin="live"}': fixture('legacy').labeler_count,
    });
    expect(over({ weatherwatch: fixture('weatherwatch') }).series(fixtureNow.weatherwatch)).toHaveProperty([
      'almanac_fact_weather_events{origin="live"}',
    ]);
  });
});

describe('the response with the metrics', () => {
  it('is cacheable like the facts and has a validator that changes whenever a fact changes', () => {
    const { reply, set } = current();
    expect([headerOf(reply(), 'Content-Type'), headerOf(reply(), 'Cache-Control')]).toEqual([
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
      'public, max-age=60',
    ]);
    const etag = headerOf(reply(), 'ETag');
    expect(headerOf(reply(now + 5_000), 'ETag')).toBe(etag);
    expect(headerOf(reply(now + 60_000), 'ETag')).not.toBe(etag);
    set('weather', Buffer.from(JSON.stringify({ ...fixture('weather'), measures: 'the same, in other words' })));
    const afterWeather = headerOf(reply(), 'ETag');
    expect(afterWeather).not.toBe(etag);
    set('recent', Buffer.from(JSON.stringify(fixture('recent'), null, 1)));
    const afterLabels = headerOf(reply(), 'ETag');
    expect([etag, afterLabels]).not.toContain(afterWeather);
    for (const tag of [etag, afterWeather, afterLabels]) expect(tag).toMatch(/^W\/"[\w-]+"$/);
  });

  it('has the status 304 if the request contains the current validator', () => {
    const { reply, get } = current();
    const etag = headerOf(reply(), 'ETag') ?? '';
    expect(get(factMetrics.path, now, { ifNoneMatch: etag })).toMatchObject({ status: 304, body: null });
    expect(get(factMetrics.path, now, { ifNoneMatch: 'W/"other"' }).status).toBe(200);
  });

  it('is not cacheable and has no validator while a fact is refused', () => {
    const reply = over({ weather: fixture('weather') }).reply();
    expect([reply.status, headerOf(reply, 'Cache-Control'), headerOf(reply, 'ETag')]).toEqual([
      200,
      'no-store',
      undefined,
    ]);
  });
});
