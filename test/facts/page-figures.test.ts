import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { variantsOf } from '../../harness/artifacts/artifact-variants.ts';
import { type ArtifactFixture, fixture, type JsonObject } from '../../harness/artifacts/fixtures.ts';
import { figuresOn, untrueOn } from '../../harness/pages/page-figures.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';
import { paths } from '../../src/contract/identifiers.ts';

/**
 * Paths of the documents whose numbers the observatory page shows. Every number on the page must also be in the JSON
 * for the same time.
 */

const documentsOf = {
  labels: paths.labelsOverview,
  conditions: paths.weatherConditions,
  metrics: paths.weatherMetrics,
};

function pageAndDocuments(facts: ReturnType<typeof factsInMemory>, now: number) {
  const html = facts.get('/', now).body?.toString('utf8') ?? '';
  const documents = Object.fromEntries(
    Object.entries(documentsOf).map(([name, path]) => [
      name,
      JSON.parse(facts.get(path, now).body?.toString('utf8') ?? ''),
    ]),
  );
  return { html, documents };
}

function bytes(artifact: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(artifact));
}

describe.each([
  ['recent', 'weather'],
  ['legacy', 'weatherwatch'],
] as const)('the observatory page of generated %s and %s artifacts', (labels, weather) => {
  it('shows only numbers and quoted texts that the JSON contains', () => {
    const seen = { served: 0, refused: 0 };
    fc.assert(
      fc.property(
        variantsOf(labels),
        variantsOf(weather),
        fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: -400, max: 10_000 })),
        (labelArtifact, weatherArtifact, passed) => {
          const now = fixtureNow[labels] + passed * 1000;
          const facts = factsInMemory(now);
          facts.set(labels, bytes(labelArtifact));
          facts.set(weather, bytes(weatherArtifact));
          const { html, documents } = pageAndDocuments(facts, now);
          expect(untrueOn(html, documents)).toEqual([]);
          expect(facts.alarms).toEqual([]);
          if ('facts' in documents.labels) seen.served++;
          else seen.refused++;
        },
      ),
      { numRuns: 500 },
    );
    expect(seen.served).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(25);
  });
});

describe('the observatory page of the fixtures', () => {
  const filled = (name: ArtifactFixture, other: ArtifactFixture, now: number) => {
    const facts = factsInMemory(now);
    facts.set(name, bytes(fixture(name)));
    facts.set(other, bytes(fixture(other)));
    return pageAndDocuments(facts, now);
  };

  it('shows the rates, totals, coverage, counts, gaps and limits of the artifacts', () => {
    const { html, documents } = filled('recent', 'weather', fixtureNow.recent);
    const shown = new Set(figuresOn(html));
    const { facts } = documents.metrics;
    const wanted = [
      ...Object.keys(facts.collections).flatMap((name) => [
        `metrics/facts/collections/${name}/mean_rate_per_s`,
        `metrics/facts/collections/${name}/total`,
      ]),
      'metrics/facts/total_events/total',
      'metrics/facts/total_events/mean_rate_per_s',
      ...['coverage_ratio', 'observed_seconds', 'span_seconds', 'start', 'end'].map(
        (key) => `metrics/facts/window/${key}`,
      ),
      'conditions/facts/conditions/as_of',
      ...['events_24h', 'events_7d', 'events_window'].map((key) => `labels/facts/counts/${key}`),
      ...[0, 1, 2].map((index) => `labels/facts/top_labelers_7d/${index}/count`),
      ...[0, 1].flatMap((index) => [
        `labels/facts/coverage/gaps/${index}/start`,
        `labels/facts/coverage/gaps/${index}/end`,
      ]),
      'labels/facts/coverage/observed_days',
      'labels/facts/acquisition/started_at',
      'labels/freshness/max_age_seconds',
      'conditions/freshness/max_age_seconds',
    ];
    expect(wanted.filter((at) => !shown.has(at))).toEqual([]);
  });

  it('fails the comparison with the JSON if a number is changed or has no source', () => {
    const { html, documents } = filled('recent', 'weather', fixtureNow.recent);
    expect(untrueOn(html, documents)).toEqual([]);
    expect(untrueOn(html.replace('>1,391,204<', '>1,391,205<'), documents)).toHaveLength(1);
    expect(untrueOn(html.replace('>99.78\u00a0%<', '>99.79\u00a0%<'), documents)).toHaveLength(1);
    expect(
      untrueOn(html.replace('>23\u00a0h\u00a056\u00a0min<', '>23\u00a0h\u00a057\u00a0min<'), documents),
    ).toHaveLength(1);
    expect(untrueOn(html.replace('>20 Nov 2026, 12:00 UTC<', '>20 Nov 2026, 12:01 UTC<'), documents)).toHaveLength(1);
    expect(untrueOn(html.replace('<h1>', '<h1>5 '), documents)).toHaveLength(1);
    expect(untrueOn(html.replace('1.14 times', '1.15 times'), documents)).toHaveLength(1);
    expect(untrueOn(html, { ...documents, labels: {} }).length).toBeGreaterThan(10);
  });

  it('shows text instead of a zero for an unknown value', () => {
    const now = fixtureNow.weather;
    const facts = factsInMemory(now);
    const { html } = pageAndDocuments(facts, now);
    expect(figuresOn(html)).toEqual([]);
    const weather = fixture('weather');
    Object.assign(weather.window as JsonObject, { observed_seconds: 0, coverage_ratio: null });
    Object.assign(weather, {
      total_events: { total: null, mean_rate_per_s: null, observed_seconds: 0 },
      collections: {},
    });
    facts.set('weather', bytes(weather));
    const unwatched = pageAndDocuments(facts, now);
    expect(untrueOn(unwatched.html, unwatched.documents)).toEqual([]);
    const shown = figuresOn(unwatched.html);
    expect(shown.filter((at) => /collections|total_events|coverage_ratio/.test(at))).toEqual([]);
    expect(unwatched.html).toContain('unknown: none of this time was observed');
    expect(unwatched.html.split('not observed</span>').length - 1).toBe(17);
  });

  it('shows the total and no rate if too little was observed for one', () => {
    const now = fixtureNow.weather;
    const facts = factsInMemory(now);
    const brief = { total: 3, mean_rate_per_s: null, observed_seconds: 0.000003 };
    facts.set('weather', bytes({ ...fixture('weather'), total_events: brief }));
    const { html, documents } = pageAndDocuments(facts, now);
    expect(untrueOn(html, documents)).toEqual([]);
    expect(figuresOn(html).filter((at) => at.includes('total_events'))).toEqual(['metrics/facts/total_events/total']);
    expect(html).toContain('unknown: too little of this time was observed');
    expect(html).not.toContain('unknown: none of this time was observed');
  });

  it('does not give too little observation as the reason if enough was observed for a rate that the artifact does not state', () => {
    const now = fixtureNow.weather;
    const facts = factsInMemory(now);
    const unrated = { total: 3, mean_rate_per_s: null, observed_seconds: 1 };
    facts.set('weather', bytes({ ...fixture('weather'), total_events: unrated }));
    const { html, documents } = pageAndDocuments(facts, now);
    expect(untrueOn(html, documents)).toEqual([]);
    expect(html).toContain('unknown: no rate is stated');
    expect(html).not.toContain('unknown: too little of this time was observed');
  });
});
