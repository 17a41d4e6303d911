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

describe('currencyOf', () => {
  it.each([
    ['young enough with what has passed since', 120, then, 'current'],
    ['older than its limit by now', 120.001, then, 'old'],
    ['partial stays partial', 0, { ...then, state: 'partial' }, 'partial'],
    ['partial and too old', 500, { ...then, state: 'partial' }, 'old'],
    ['stale when it was made', 0, { ...then, state: 'stale' }, 'old'],
    ['unavailable when it was made', 0, { ...then, state: 'unavailable' }, 'unavailable'],
    ['no time of its own', null, then, 'not_said'],
    ['no age', 0, { ...then, age_seconds: null }, 'not_said'],
    ['no limit', 0, { ...then, max_age_seconds: null }, 'not_said'],
  ] as const)('%s', (_name, age, freshness, expected) => {
    expect(currencyOf({ age_seconds: age, freshness })).toBe(expected);
  });
});
