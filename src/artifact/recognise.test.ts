import { describe, expect, it } from 'vitest';
import { type ArtifactFixture, fixture, type JsonObject } from '../../harness/artifacts/fixtures.ts';
import { recogniseLabels, recogniseWeather } from './recognise.ts';

const recognise = (name: ArtifactFixture, value: unknown) =>
  name === 'recent' || name === 'legacy' ? recogniseLabels(value) : recogniseWeather(value);

/** Returns the fixture with the value at a JSON pointer changed. */
function changed(name: ArtifactFixture, pointer: string, value: unknown): JsonObject {
  const artifact = fixture(name);
  const steps = pointer.slice(1).split('/');
  const last = steps.pop() ?? '';
  const holder = steps.reduce<JsonObject>((node, step) => node[step] as JsonObject, artifact);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return artifact;
}

describe('schema detection by content', () => {
  it.each<[ArtifactFixture, string]>([
    ['recent', 'labels.recent-overview.v1'],
    ['legacy', '23'],
    ['weather', 'weather.summary.v1'],
    ['weatherwatch', 'weatherwatch.summary/v2'],
  ])('identifies the artifact "%s" as schema %s', (name, schema) => {
    const recognised = recognise(name, fixture(name));
    expect(recognised.kind === 'recognised' && recognised.artifact.schema).toBe(schema);
  });

  it.each([
    null,
    5,
    'labels.recent-overview.v1',
    [],
    {},
    { schema: 'labels.recent-overview.v2' },
    { schema: 'LABELS.recent-overview.v1' },
    { schema: ['labels.recent-overview.v1'] },
    { schema_version: 22 },
    { schema_version: '23' },
    { schema: 'other', schema_version: 23 },
    { schema: null, schema_version: 23 },
    JSON.parse('{"__proto__": {"schema": "labels.recent-overview.v1"}}'),
  ])('rejects %j as an unknown schema', (value) => {
    expect(recogniseLabels(value).kind).toBe('unknown_schema');
    expect(recogniseWeather(value).kind).toBe('unknown_schema');
  });

  it('rejects an artifact of a different instrument as an unknown schema', () => {
    expect(recogniseWeather(fixture('recent')).kind).toBe('unknown_schema');
    expect(recogniseLabels(fixture('weather')).kind).toBe('unknown_schema');
  });
});

describe('the check of an artifact', () => {
  const nan = Number.NaN;
  it.each<[ArtifactFixture, string, unknown]>([
    ['recent', '/counts/events_24h', -1],
    ['recent', '/counts/events_24h', 1.5],
    ['recent', '/counts/events_24h', 2 ** 53],
    ['recent', '/counts/events_24h', '5'],
    ['recent', '/counts/events_24h', null],
    ['recent', '/counts/events_window', undefined],
    ['recent', '/labeler_count', undefined],
    ['recent', '/coverage/sources/enrolled', undefined],
    ['recent', '/coverage/sources/unavailable', undefined],
    ['recent', '/coverage/sources/future_skipped', -1],
    ['legacy', '/labeler_count', undefined],
    ['legacy', '/alert_count', undefined],
    ['legacy', '/alerts_by_rule_7d/churn_index', -1],
    ['legacy', '/census/auditability/high', 0.5],
    ['legacy', '/observation/attempts', undefined],
    ['weather', '/collections/like.create/total', -3],
    ['weather', '/window/observed_windows', undefined],
    ['weatherwatch', '/metrics/post.create/total', 'many'],
    ['weatherwatch', '/total_events/total', undefined],
    ['weather', '/window/coverage_ratio', -0.1],
    ['weather', '/total_events/mean_rate_per_s', Number.POSITIVE_INFINITY],
    ['weather', '/collections/like.create/mean_rate_per_s', nan],
    ['legacy', '/observation/coverage_threshold', -1],
    ['recent', '/acquisition/started_at', '2026-10-06T09:30:00'],
    ['recent', '/coverage/gaps/0/start', '2026-10-28T02:00:00+02:00'],
    ['recent', '/coverage/gaps/1/end', null],
    ['recent', '/coverage/warmup', { start: 'x', end: 'y', reason: 'not_observed' }],
    ['weather', '/window/start', '2026-11-19'],
    ['weatherwatch', '/interval/first_bucket_start', 1e15],
    ['recent', '/acquisition/basis', 'wall_clock'],
    ['recent', '/origin', 'dreamt'],
    ['legacy', '/observation/adequacy', 'fine'],
    ['weather', '/conditions/state', 'sunny'],
    ['weather', '/conditions/confidence', 'sure'],
    ['weather', '/freshness/state', 'fresh'],
    ['weatherwatch', '/conditions/state', 'lullaby'],
    ['weatherwatch', '/freshness/state', 'new'],
    ['recent', '/acquisition/generation_id', 'generation-1'],
    ['recent', '/top_labelers_7d/0/labeler_did', 'did:key:z6Mk'],
    ['legacy', '/top_labelers_7d/1/labeler_did', 'example.com'],
    ['recent', '/hold', 'yes'],
    ['recent', '/coverage', []],
    ['recent', '/window_days', 0],
    ['recent', '/caveats', 'none'],
    ['legacy', '/network_weather/signals', 'calm'],
    ['weather', '/conditions', null],
  ])('locates the first error in the artifact %s with %s = %j', (name, pointer, value) => {
    const recognised = recognise(name, changed(name, pointer, value));
    expect(recognised.kind).toBe('malformed');
    expect(recognised.kind === 'malformed' && recognised.pointer).toMatch(
      new RegExp(`^${pointer.replaceAll('.', '\\.')}`),
    );
  });

  it('rejects an interval that ends before it starts', () => {
    const gap = { start: '2026-10-28T02:00:00.000001Z', end: '2026-10-28T02:00:00Z', reason: 'maintenance' };
    expect(recognise('recent', changed('recent', '/coverage/gaps/1', gap))).toMatchObject({
      pointer: '/coverage/gaps/1',
    });
    expect(recognise('recent', changed('recent', '/coverage/warmup', gap))).toMatchObject({
      pointer: '/coverage/warmup',
    });
    expect(recognise('weatherwatch', changed('weatherwatch', '/interval/last_bucket_end', 5))).toMatchObject({
      pointer: '/interval',
    });
    expect(recognise('weather', changed('weather', '/window/end', '2026-11-19T11:59:59Z'))).toMatchObject({
      pointer: '/window',
    });
  });

  it('accepts an interval of zero length', () => {
    const gap = { start: '2026-10-28T02:00:00Z', end: '2026-10-28T02:00:00Z', reason: 'maintenance' };
    expect(recognise('recent', changed('recent', '/coverage/gaps/1', gap)).kind).toBe('recognised');
  });

  it('rejects alerts whose sum is beyond the range of a count', () => {
    const rules = { a: Number.MAX_SAFE_INTEGER, b: 1 };
    expect(recognise('legacy', changed('legacy', '/alerts_by_rule_7d', rules))).toMatchObject({
      pointer: '/alerts_by_rule_7d',
    });
  });
});

it('a legacy artifact is rejected if the sum of a census map is beyond the range of a count', () => {
  const auditability = { unknown: Number.MAX_SAFE_INTEGER, foo: 5 };
  expect(recognise('legacy', changed('legacy', '/census/auditability', auditability))).toMatchObject({
    pointer: '/census/auditability',
  });
});

describe('an artifact with a time of the wrong type', () => {
  it.each<[ArtifactFixture, string]>([
    ['recent', '/generated_at'],
    ['recent', '/coverage/observed_through'],
    ['legacy', '/generated_at'],
    ['weather', '/generated_at'],
    ['weatherwatch', '/generated_at'],
  ])('is readable (artifact %s, field %s)', (name, pointer) => {
    for (const value of [5, {}, [], true])
      expect(recognise(name, changed(name, pointer, value)).kind).toBe('recognised');
  });
});

it('a legacy artifact is valid if its observation is null', () => {
  expect(recogniseLabels(changed('legacy', '/observation', null)).kind).toBe('recognised');
});

describe('an artifact without an optional field', () => {
  it.each<[ArtifactFixture, string]>([
    ['recent', '/generated_at'],
    ['recent', '/coverage/observed_through'],
    ['weather', '/generated_at'],
    ['recent', '/hold'],
    ['recent', '/origin'],
    ['recent', '/coverage/sources/seeded'],
    ['recent', '/coverage/sources/discovered'],
    ['recent', '/coverage/sources/future_skipped'],
    ['legacy', '/observation'],
    ['legacy', '/alerts_by_rule_24h'],
    ['legacy', '/alerts_by_rule_7d'],
    ['legacy', '/heartbeats/last_scan_ok_ts'],
    ['legacy', '/build_signature'],
    ['weather', '/origin'],
    ['weather', '/collections/like.create'],
    ['weatherwatch', '/metrics/like.create'],
    ['weatherwatch', '/windows'],
  ])('is readable: %s without %s', (name, pointer) => {
    expect(recognise(name, changed(name, pointer, undefined)).kind).toBe('recognised');
  });
});
