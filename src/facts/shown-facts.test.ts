import { describe, expect, it } from 'vitest';
import type { WeatherFreshness } from '../contract/envelope.ts';
import { currencyOf } from './shown-facts.ts';

const then: WeatherFreshness = {
  state: 'current',
  newest_observation_end: null,
  newest_complete_observation_end: null,
  age_seconds: 60,
  max_age_seconds: 180,
  basis: null,
};

describe('the currency of a weather fact', () => {
  it.each([
    ['current if the age of the artifact plus the age in its freshness is within the limit', 120, then, 'current'],
    ['old if the age of the artifact plus the age in its freshness exceeds the limit', 120.001, then, 'old'],
    ['partial if the freshness states partial', 0, { ...then, state: 'partial' }, 'partial'],
    ['old if the freshness states partial and the limit is exceeded', 500, { ...then, state: 'partial' }, 'old'],
    ['old if the freshness states stale', 0, { ...then, state: 'stale' }, 'old'],
    ['unavailable if the freshness states unavailable', 0, { ...then, state: 'unavailable' }, 'unavailable'],
    ['not_said if the age of the artifact is unknown', null, then, 'not_said'],
    ['not_said if the freshness states no age', 0, { ...then, age_seconds: null }, 'not_said'],
    ['not_said if the freshness states no limit', 0, { ...then, max_age_seconds: null }, 'not_said'],
  ] as const)('is %s', (_name, age, freshness, expected) => {
    expect(currencyOf({ age_seconds: age, freshness })).toBe(expected);
  });
});
