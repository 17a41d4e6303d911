import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AgedFact, currentAge, weatherCurrency } from './currency.ts';
import { createFactsClient } from './index.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const at = (seconds: number) => new Date(noon + seconds * 1000).toISOString();
const now = { retrieved_at: at(0) };
const fresh = { state: 'current', age_seconds: 60, max_age_seconds: 180 } as const;

describe('the currency of a weather reading', () => {
  it.each([
    ['current', 20, { ...now, age_seconds: 100, freshness: fresh }],
    ['old', 20.5, { ...now, age_seconds: 100, freshness: fresh }],
    ['current', -500, { ...now, age_seconds: 120, freshness: fresh }],
    ['old', 0, { ...now, age_seconds: 0, freshness: { ...fresh, state: 'stale' } }],
    ['unavailable', 0, { ...now, age_seconds: 0, freshness: { ...fresh, state: 'unavailable' } }],
    ['current', 0, { retrieved_at: at(-90), age_seconds: 30, freshness: fresh }],
    ['old', 0, { retrieved_at: at(-90), age_seconds: 31, freshness: fresh }],
    ['current', 0, { retrieved_at: at(-3600), age_seconds: 0, freshness: fresh }],
    ['current', 0, { retrieved_at: at(3600), age_seconds: 120, freshness: fresh }],
    ['current', 0, { retrieved_at: 'yesterday', age_seconds: 120, freshness: fresh }],
    ['not_said', 0, { ...now, age_seconds: null, freshness: fresh }],
    ['current', 0, { ...now, age_seconds: -300, freshness: fresh }],
    ['not_said', 3600, { ...now, age_seconds: -300.5, freshness: fresh }],
    ['not_said', 0, { ...now, age_seconds: 0, freshness: { ...fresh, age_seconds: -301 } }],
    ['old', 0, { ...now, age_seconds: -301, freshness: { ...fresh, state: 'stale' } }],
  ] satisfies [string, number, AgedFact & { retrieved_at: string }][])(
    'is %s if the clock of the client has advanced by %d seconds since the arrival and the reading states %j',
    (currency, elapsed, value) => {
      expect(weatherCurrency({ value, receivedAt: noon }, noon + elapsed * 1000)).toBe(currency);
    },
  );
});

describe('the current age of a reading', () => {
  it.each([
    [130, 20, { retrieved_at: at(-10), age_seconds: 100 }],
    [100, -500, { retrieved_at: at(0), age_seconds: 100 }],
    [220, 0, { retrieved_at: at(-3600), age_seconds: 100 }],
    [100, 0, { retrieved_at: at(3600), age_seconds: 100 }],
    [101, 1, { retrieved_at: 'yesterday', age_seconds: 100 }],
    [-2, 3, { retrieved_at: at(0), age_seconds: -5 }],
    [null, 20, { retrieved_at: at(0), age_seconds: null }],
    [null, 20, { retrieved_at: at(0) }],
  ])(
    'in seconds is %s if the clock of the client has advanced by %d seconds since the arrival and the reading states %j',
    (age, elapsed, value) => {
      expect(currentAge({ value, receivedAt: noon }, noon + elapsed * 1000)).toBe(age);
    },
  );
});

describe('a reading that a program holds', () => {
  /** Receives weather that is ten seconds old, at noon on clocks that the test sets. */
  async function received(control = 'max-age=60', delivery = 0) {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: noon + delivery * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    const body = {
      contract: 'atproto.facts.weather.metrics/v1',
      ...now,
      ...{ age_seconds: 5, freshness: { ...fresh, age_seconds: 5 } },
    };
    const fetch = async () => Response.json(body, { headers: { 'Cache-Control': control } });
    return createFactsClient('http://a.example', { fetch }).weatherMetrics();
  }

  it('becomes old although the clock of the client is set back', async () => {
    const reading = await received();
    vi.advanceTimersByTime(1_800_000);
    vi.setSystemTime(noon - 1_800_000);
    expect([weatherCurrency(reading), currentAge(reading)]).toEqual(['old', 1805]);
    expect([weatherCurrency({ ...reading }), currentAge({ ...reading })]).toEqual(['old', 1805]);
  });

  it.each([
    ['old', 545, 'max-age=600', 540],
    ['old', 665, 'max-age=600', 719],
    ['current', 125, 'max-age=60', 179],
    ['current', 125, 'max-age=60, s-maxage=30', 179],
    ['current', 105, 'no-store', 100],
  ])(
    'is %s, with the age %d, if a cache that states %s delivered it after %d s',
    async (currency, age, control, delivery) => {
      const reading = await received(control, delivery);
      expect([weatherCurrency(reading), currentAge(reading)]).toEqual([currency, age]);
      const copy = structuredClone(reading);
      expect([weatherCurrency(copy), currentAge(copy)]).toEqual([currency, age]);
    },
  );

  it('has the age of a given time, whatever the clocks of the client show', async () => {
    const reading = await received();
    vi.advanceTimersByTime(1_800_000);
    expect([weatherCurrency(reading, noon + 170_000), currentAge(reading, noon + 170_000)]).toEqual(['current', 175]);
  });

  it('has an age in another process, where a monotonic clock has another origin', async () => {
    const copy = structuredClone(await received());
    vi.advanceTimersByTime(1_800_000);
    vi.setSystemTime(noon + 170_000);
    expect([weatherCurrency(copy), currentAge(copy)]).toEqual(['current', 175]);
  });
});
