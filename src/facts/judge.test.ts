import { describe, expect, it } from 'vitest';
import { aLegacyOverview, aRecentOverview } from '../../harness/artifacts/overviews.ts';
import type { LegacyOverview, RecentOverview } from '../artifact/recognise.ts';
import { formatTimestamp } from '../contract/timestamp.ts';
import { judgeLabels, labelEvidence } from './judge.ts';

const now = Date.parse('2026-11-20T12:00:00.000Z');
const bounds = { maxAgeSeconds: 7200, collectionMaxAgeSeconds: 7200 };

/** Returns the timestamp for the given number of seconds before `now`. */
function ago(seconds: number): string {
  return formatTimestamp(now - seconds * 1000);
}

function recent(changes: Partial<RecentOverview> & { observed_through?: string | null } = {}) {
  const { observed_through = ago(10), ...rest } = changes;
  const overview = aRecentOverview({ generated_at: ago(0), ...rest });
  return labelEvidence({
    schema: 'labels.recent-overview.v1',
    overview: { ...overview, coverage: { ...overview.coverage, observed_through } },
  });
}

function legacy(changes: Partial<LegacyOverview> = {}) {
  return labelEvidence({ schema: '23', overview: aLegacyOverview({ generated_at: ago(0), ...changes }) });
}

function verdict(evidence: ReturnType<typeof recent>) {
  const { servable, freshness } = judgeLabels(evidence, bounds, now);
  const { state, basis } = freshness;
  expect(servable).toBe(state === 'fresh' || state === 'warming_up');
  return `${state} by ${basis}`;
}

describe('the age of the artifact', () => {
  it.each([
    [0, 'fresh by artifact_generated_at'],
    [7199.999, 'fresh by artifact_generated_at'],
    [7200, 'fresh by artifact_generated_at'],
    [7200.001, 'stale by artifact_generated_at'],
    [-299.999, 'fresh by artifact_generated_at'],
    [-300, 'fresh by artifact_generated_at'],
    [-300.001, 'unavailable by artifact_generated_at'],
  ])('of %d seconds makes the artifact %s', (age, expected) => {
    expect(verdict(recent({ generated_at: ago(age) }))).toBe(expected);
    expect(verdict(legacy({ generated_at: ago(age) }))).toBe(expected);
  });

  it('is computed to the microsecond', () => {
    expect(verdict(recent({ generated_at: '2026-11-20T12:05:00.000000Z' }))).toBe('fresh by artifact_generated_at');
    expect(verdict(recent({ generated_at: '2026-11-20T12:05:00.000001Z' }))).toBe(
      'unavailable by artifact_generated_at',
    );
    expect(verdict(recent({ generated_at: '2026-11-20T09:59:59.999999Z' }))).toBe('stale by artifact_generated_at');
  });

  it.each([null, '', 'yesterday', '2026-11-20T12:00:00', '2026-11-20T13:00:00+01:00'])(
    'is unusable if generated_at is %j',
    (generated_at) => {
      expect(verdict(recent({ generated_at }))).toBe('unavailable by artifact_generated_at');
      expect(verdict(legacy({ generated_at }))).toBe('unavailable by artifact_generated_at');
    },
  );
});

it('a label artifact without a generated_at is unavailable', () => {
  const { generated_at: _, ...overview } = aRecentOverview();
  expect(verdict(labelEvidence({ schema: 'labels.recent-overview.v1', overview }))).toBe(
    'unavailable by artifact_generated_at',
  );
});

describe('the age of the collection', () => {
  it.each([
    [0, 'fresh by artifact_generated_at'],
    [7200, 'fresh by artifact_generated_at'],
    [7200.001, 'stale by collection_observed_through'],
    [-300, 'fresh by artifact_generated_at'],
    [-300.001, 'unavailable by collection_observed_through'],
  ])('of %d seconds makes the artifact %s', (age, expected) => {
    expect(verdict(recent({ observed_through: ago(age) }))).toBe(expected);
  });

  it.each([null, '', '2026-11-20T12:00:00'])('is unusable if observed_through is %j', (observed_through) => {
    expect(verdict(recent({ observed_through }))).toBe('unavailable by collection_observed_through');
  });

  it('is compared with its own maximum, not with the maximum age of the artifact', () => {
    const evidence = recent({ observed_through: ago(61) });
    const judged = judgeLabels(evidence, { maxAgeSeconds: 7200, collectionMaxAgeSeconds: 60 }, now);
    expect(judged).toEqual({
      servable: false,
      state: 'stale',
      freshness: {
        state: 'stale',
        age_seconds: 0,
        basis: 'collection_observed_through',
        max_age_seconds: 7200,
        collection_age_seconds: 61,
        collection_max_age_seconds: 60,
      },
    });
  });
});

describe('the order of the freshness rules', () => {
  const old = ago(9000);
  const warmup = { start: ago(86_400), end: ago(3600), reason: 'not_observed' };
  const coverage = { ...aRecentOverview().coverage, warmup };

  it('results in unavailable for an unusable time, even during a hold', () => {
    expect(verdict(recent({ generated_at: 'no', hold: true }))).toBe('unavailable by artifact_generated_at');
    expect(verdict(recent({ observed_through: null, hold: true }))).toBe('unavailable by collection_observed_through');
  });
  it("uses the artifact's time as the basis if both times are unusable", () => {
    expect(verdict(recent({ generated_at: 'no', observed_through: null }))).toBe(
      'unavailable by artifact_generated_at',
    );
  });
  it('applies held before stale', () => {
    expect(verdict(recent({ generated_at: old, hold: true }))).toBe('held by artifact_generated_at');
    expect(verdict(legacy({ generated_at: old, hold: true }))).toBe('held by artifact_generated_at');
  });
  it("uses the artifact's age as the basis if both stale rules apply", () => {
    expect(verdict(recent({ generated_at: old, observed_through: old }))).toBe('stale by artifact_generated_at');
  });
  it('applies stale before warming up', () => {
    expect(verdict(recent({ generated_at: old, coverage }))).toBe('stale by artifact_generated_at');
  });
});

describe('the warming_up state', () => {
  const { coverage } = aRecentOverview();
  it('applies to an epoch with a warm-up', () => {
    const warmup = { start: ago(86_400), end: ago(3600), reason: 'not_observed' };
    expect(verdict(recent({ coverage: { ...coverage, warmup } }))).toBe('warming_up by artifact_generated_at');
  });
  it('applies to an epoch shorter than a whole window', () => {
    expect(verdict(recent({ coverage: { ...coverage, observed_days: 29 } }))).toBe(
      'warming_up by artifact_generated_at',
    );
    expect(verdict(recent({ coverage: { ...coverage, observed_days: 30 } }))).toBe('fresh by artifact_generated_at');
  });
  it('does not apply to the legacy producer', () => {
    expect(verdict(legacy({ window_days: 30 }))).toBe('fresh by artifact_generated_at');
  });
});

it('a fact of the legacy producer has no collection age', () => {
  expect(judgeLabels(legacy({ generated_at: ago(30) }), bounds, now)).toEqual({
    servable: true,
    ageSeconds: 30,
    freshness: { state: 'fresh', age_seconds: 30, basis: 'artifact_generated_at', max_age_seconds: 7200 },
  });
});

it('an unusable time yields no age, and a tolerated future time yields a negative age', () => {
  expect(judgeLabels(recent({ generated_at: ago(-12.25) }), bounds, now).freshness.age_seconds).toBe(-12.25);
  expect(judgeLabels(recent({ generated_at: ago(-301) }), bounds, now).freshness.age_seconds).toBeNull();
  expect(judgeLabels(recent({ observed_through: ago(-301) }), bounds, now).freshness.collection_age_seconds).toBeNull();
});
