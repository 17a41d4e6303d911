import { describe, expect, test } from 'vitest';
import { checkWeatherSummary } from '../../artifact/recognise.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { collectionTimes } from '../silence/silence.ts';

import type { Silence } from '../window/store-schema.ts';
import { minutes, windowFlag, windowUs } from '../window/window.ts';
import { summarise } from './summary.ts';

const start = Date.parse('2026-11-20T12:00:00Z') * 1000;
const end = start + 4 * windowUs;
const offline = {
  state: 'station_offline',
  confidence: 'unsupported',
  asOfUs: null,
  ratio: null,
  days: 0,
  shortOfDays: null,
} as const;

interface Variation {
  readonly unseen?: ReadonlySet<CollectionName>;
  readonly rows?: readonly number[];
  readonly nowUs?: number;
  readonly flags?: number;
  readonly silences?: readonly Silence[];
}

/**
 * Returns the summary of four minutes in which only the given spans were observed. Each stored row has ten posts and
 * three likes.
 */
function summary(
  observed: readonly { from: number; to: number }[],
  { rows = [0, 1, 2, 3], nowUs = end, flags = 0, silences = [], unseen = new Set() }: Variation = {},
) {
  const counts = collectionNames.map((name) => (name === 'post.create' ? 10 : name === 'like.create' ? 3 : 0));
  const stored = rows.map((i) => ({
    startUs: start + i * windowUs,
    events: 15,
    lateOrRepeat: 0,
    malformed: 0,
    resync: 0,
    leftOut: 0,
    flags,
    counts,
  }));
  const read = minutes(stored, observed, start, 4, collectionNames.length);
  return summarise({
    endpoint: 'wss://host.example/subscribe',
    wire: 'jetstream.legacy',
    caveats: [],
    origin: 'live',
    nowUs,
    minutes: read,
    observed,
    silences,
    times: collectionTimes(read, observed, silences),
    countedSince: new Map(),
    unseen,
    conditions: offline,
  });
}

describe('the weather summary', () => {
  test('publishes a collection without any event in the series as null and names it in a caveat, because the host might not send it', () => {
    const whole = [{ from: start, to: end }];
    const { collections, caveats } = summary(whole, { unseen: new Set(['block.delete']) });
    expect(collections['block.delete']).toBeNull();
    expect(collections['like.delete']).toMatchObject({ total: 0, observed_seconds: 240 });
    expect(caveats).toContainEqual(
      expect.stringMatching(/^No event of these collections .*: block\.delete\. They are not/),
    );
  });

  test('contains no counts, rates or ages if nothing was observed', () => {
    const empty = summary([], { rows: [] });
    expect(checkWeatherSummary(empty)).toMatchObject({ ok: true });
    expect(empty).toMatchObject({
      window: { span_seconds: 240, observed_seconds: 0, coverage_ratio: 0, observed_windows: 0, unobserved_windows: 4 },
      total_events: { total: null, mean_rate_per_s: null, observed_seconds: 0 },
      collections: {},
      freshness: {
        state: 'unavailable',
        newest_observation_end: null,
        newest_complete_observation_end: null,
        age_seconds: null,
      },
    });
  });

  test('computes rates from the observed time, and counts a window as unobserved only if a gap covers all of it', () => {
    const gapped = summary(
      [
        { from: start, to: start + 90_000_000 },
        { from: start + 210_000_000, to: end },
      ],
      { rows: [0, 1, 3] },
    );
    expect(checkWeatherSummary(gapped)).toMatchObject({ ok: true });
    expect(gapped.window).toEqual({
      start: '2026-11-20T12:00:00.000Z',
      end: '2026-11-20T12:04:00.000Z',
      bucket_seconds: 60,
      span_seconds: 240,
      observed_seconds: 120,
      coverage_ratio: 0.5,
      observed_windows: 3,
      unobserved_windows: 1,
    });
    expect(gapped.total_events).toEqual({ total: 45, mean_rate_per_s: 0.375, observed_seconds: 120 });
    expect(gapped.collections['post.create']).toEqual({
      total: 30,
      mean_rate_per_s: 0.25,
      observed_seconds: 120,
      observed_windows: 3,
      unobserved_windows: 1,
    });
    expect(gapped.collections['block.delete']).toMatchObject({ total: 0, mean_rate_per_s: 0 });
    expect(Object.keys(gapped.collections).sort()).toEqual([...collectionNames].sort());
  });

  test('states a rate only if at least one second was observed', () => {
    const of = (observedUs: number) => {
      const { total_events: all, collections } = summary([{ from: start, to: start + observedUs }]);
      return [all, collections['like.create']].map((one) => [one?.total, one?.mean_rate_per_s, one?.observed_seconds]);
    };
    expect([1, 999_999, 1_000_000].map(of)).toEqual([
      [
        [60, null, 0.000001],
        [12, null, 0.000001],
      ],
      [
        [60, null, 0.999999],
        [12, null, 0.999999],
      ],
      [
        [60, 60, 1],
        [12, 12, 1],
      ],
    ]);
  });

  test('states a coverage below 1 if a time was not observed, however short that time is', () => {
    const observed = [
      { from: start, to: start + windowUs },
      { from: start + windowUs + 100, to: end },
    ];
    expect(summary(observed).window).toMatchObject({ observed_seconds: 239.9999, coverage_ratio: 0.999999 });
    expect(summary([{ from: start, to: end }]).window).toMatchObject({ observed_seconds: 240, coverage_ratio: 1 });
  });

  test('computes its freshness from the end of the observed time', () => {
    const whole = [{ from: start, to: end }];
    expect(summary(whole, { nowUs: end + 20_000_000 }).freshness).toEqual({
      state: 'current',
      newest_observation_end: '2026-11-20T12:04:00.000Z',
      newest_complete_observation_end: '2026-11-20T12:04:00.000Z',
      age_seconds: 20,
      max_age_seconds: 180,
      basis: 'end of the newest observation in a closed window, against three window widths',
    });
    expect(summary(whole, { nowUs: end + 180_000_000 }).freshness.state).toBe('current');
    expect(summary(whole, { nowUs: end + 180_000_001 }).freshness.state).toBe('stale');
    expect(summary([{ from: start, to: end - 1_000_000 }]).freshness).toMatchObject({
      state: 'partial',
      newest_observation_end: '2026-11-20T12:03:59.000Z',
      newest_complete_observation_end: '2026-11-20T12:03:00.000Z',
    });
    expect(summary(whole, { flags: windowFlag.possibleLoss }).freshness).toMatchObject({
      state: 'partial',
      newest_complete_observation_end: null,
    });
  });

  test('states that it counts events, not participants', () => {
    expect(summary([]).does_not_measure).toContain('participant turnover');
  });
});
