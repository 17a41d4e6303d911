import { describe, expect, it } from 'vitest';
import type { WeatherFreshness } from '../../contract/freshness.ts';
import { currencyOf } from './currency.ts';

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
    ['current if its age and the time since then are within the limit', 120, then, 'current'],
    ['old if its age and the time since then exceed the limit', 120.001, then, 'old'],
    ['partial if it was partial', 0, { ...then, state: 'partial' }, 'partial'],
    ['old if it was partial and its age exceeds the limit', 500, { ...then, state: 'partial' }, 'old'],
    ['old if it was stale', 0, { ...then, state: 'stale' }, 'old'],
    ['unavailable if it was unavailable', 0, { ...then, state: 'unavailable' }, 'unavailable'],
    ['not stated without a time', null, then, 'not_said'],
    ['not stated without an age', 0, { ...then, age_seconds: null }, 'not_said'],
    ['not stated without a limit', 0, { ...then, max_age_seconds: null }, 'not_said'],
  ] as const)('is %s', (_name, age, freshness, expected) => {
    expect(currencyOf({ age_seconds: age, freshness })).toBe(expected);
  });
});
