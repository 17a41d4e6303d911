import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { windowFlag, windowUs } from '../window/window.ts';
import { type ConditionMinute, type ConditionReading, type HourBaseline, readConditions } from './conditions.ts';

const usual: HourBaseline = {
  support: 'supported',
  days: 30,
  p05: 80,
  p25: 90,
  p50: 100,
  p75: 110,
  p95: 120,
  turbulenceP95: 0.2,
};
const start = 1_780_000_020_000_000;

/** Returns consecutive minutes with the given rates, the newest last, all fully observed. */
function minutesOf(rates: readonly number[], change: Partial<ConditionMinute> = {}): ConditionMinute[] {
  return rates.map((rate, i) => ({
    startUs: start + i * windowUs,
    rate,
    eligible: true,
    complete: true,
    flags: 0,
    silent: false,
    ...change,
  }));
}

function read(
  minutes: readonly ConditionMinute[],
  { late = 0, baseline = usual, days = 30 }: { late?: number; baseline?: HourBaseline | null; days?: number } = {},
): ConditionReading {
  const nowUs = (minutes.at(-1)?.startUs ?? start) + windowUs + late * windowUs;
  return readConditions({ minutes, baseline: () => baseline, comparableDays: () => days, nowUs });
}

const calm = Array<number>(20).fill(100);

describe('the state of the weather conditions', () => {
  test.each([
    ['calm', [100]],
    ['calm', [85]],
    ['active', [115]],
    ['unsettled', [130]],
    ['turbulent', [115, 115]],
    ['storm', [115, 130]],
    ['storm', [300, 300]],
    ['severe_storm', [300, 300, 300]],
    ['storm', [130, 130, 130]],
    ['calm', [300, 300, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]],
    ['calm', [70, 70]],
    ['calm', [77, 77, 77]],
    ['lull', [70, 70, 70]],
    ['lull', Array<number>(9).fill(40)],
    ['unavailable', Array<number>(10).fill(40)],
  ] as const)('is %s for a settled stream that ends with the levels %j', (state, ending) => {
    expect(read(minutesOf([...calm, ...ending])).state).toBe(state);
  });

  test('is unsettled for an uneven level that is not high', () => {
    expect(read(minutesOf([...calm, 60, 105, 60, 105, 60, 105, 60, 105, 60, 105])).state).toBe('unsettled');
  });

  test("is reported with the ratio of the level to the hour's median, and with the number of comparable days", () => {
    expect(read(minutesOf([...calm, 114]))).toEqual({
      state: 'active',
      confidence: 'supported',
      asOfUs: start + 21 * windowUs,
      ratio: 1.14,
      days: 30,
      shortOfDays: null,
    });
  });
});

describe('the weather conditions', () => {
  test('are station_offline if there is no minute in the last fifteen windows', () => {
    expect(read([]).state).toBe('station_offline');
    expect(read(minutesOf(calm), { late: 15 }).state).toBe('calm');
    expect(read(minutesOf(calm), { late: 16 })).toMatchObject({ state: 'station_offline', confidence: 'unsupported' });
  });

  test('are unavailable without a baseline, or with a baseline of zero', () => {
    expect(read(minutesOf(calm), { baseline: null })).toMatchObject({
      state: 'unavailable',
      confidence: 'unsupported',
    });
    expect(read(minutesOf(calm), { baseline: { ...usual, p50: 0 } }).state).toBe('unavailable');
  });

  test('report the number of comparable days while they are too few for a baseline', () => {
    expect(read(minutesOf(calm), { baseline: null, days: 2 })).toMatchObject({ state: 'unavailable', shortOfDays: 2 });
    expect(read([], { days: 0 })).toMatchObject({ state: 'station_offline', shortOfDays: 0 });
    expect(read(minutesOf(calm), { baseline: null, days: 7 }).shortOfDays).toBeNull();
  });

  test('are unavailable if events arrive but no minute was observed sufficiently', () => {
    expect(read(minutesOf([100], { eligible: false, complete: false })).state).toBe('unavailable');
  });

  test('classify the newest eligible minute, even if a newer minute is not eligible', () => {
    const minutes = [
      ...minutesOf([...calm, 130]),
      ...minutesOf([1], { eligible: false, startUs: start + 21 * windowUs }),
    ];
    expect(read(minutes)).toMatchObject({ state: 'unsettled', asOfUs: start + 21 * windowUs });
  });

  test('are neither a lull nor calm if the level is low because the stream is unsettled or interrupted', () => {
    const low = [...calm, 70, 70, 70];
    expect(read(minutesOf(low, { complete: false })).state).toBe('unavailable');
    const reconnected = minutesOf(low).map((minute, i) => (i === 15 ? { ...minute, flags: windowFlag.seam } : minute));
    expect(read(reconnected).state).toBe('unavailable');
    const longAgo = minutesOf(low).map((minute, i) => (i === 5 ? { ...minute, flags: windowFlag.seam } : minute));
    expect(read(longAgo).state).toBe('lull');
  });

  test.each([1, 2, 3])('are not a lull if minute %s from the end is incomplete', (back) => {
    const low = minutesOf([...calm, 70, 70, 70]);
    const broken = low.map((minute, i) => (i === low.length - back ? { ...minute, complete: false } : minute));
    expect(read(broken).state).toBe('unavailable');
  });

  test('are a lull only after ten settled minutes in which no connection began', () => {
    expect(read(minutesOf([...calm.slice(-6), 70, 70, 70])).state).toBe('unavailable');
    expect(read(minutesOf([...calm.slice(-7), 70, 70, 70])).state).toBe('lull');
    const low = minutesOf([...calm, 70, 70, 70]);
    for (const back of [1, 10]) {
      const seam = low.map((minute, i) => (i === low.length - back ? { ...minute, flags: windowFlag.seam } : minute));
      expect(read(seam).state).toBe('unavailable');
    }
  });

  test('are unavailable, and never a lull, in a minute that lacks the collections that make up the interactions', () => {
    expect(read(minutesOf(calm, { silent: true })).state).toBe('unavailable');
    const low = minutesOf([...calm, 70, 70, 70]);
    expect(read(low).state).toBe('lull');
    expect(read(low.map((minute, i) => ({ ...minute, silent: i >= calm.length }))).state).toBe('unavailable');
    // A minute without these collections does not prolong a state that lasts several minutes.
    expect(read(low.map((minute, i) => ({ ...minute, silent: i === calm.length }))).state).toBe('calm');
    expect(
      read(minutesOf([...calm, 130, 130]).map((minute, i) => ({ ...minute, silent: i === calm.length }))).state,
    ).toBe('unsettled');
  });

  test('are never calm without a baseline or without a recent minute', () => {
    const anyMinutes = fc.array(
      fc.record({
        rate: fc.integer({ min: 0, max: 400 }),
        eligible: fc.boolean(),
        complete: fc.boolean(),
        flags: fc.nat(63),
        silent: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(anyMinutes, fc.nat(40), fc.boolean(), (given, late, known) => {
        const minutes = given.map((minute, i) => ({ ...minute, startUs: start + i * windowUs }));
        const reading = read(minutes, { late, baseline: known ? usual : null });
        const newest = minutes.findLastIndex(({ eligible }) => eligible);
        const recent = newest >= 0 && late + minutes.length - 1 - newest <= 15;
        if (!known || !recent || minutes[newest]?.silent)
          expect(['unavailable', 'station_offline']).toContain(reading.state);
      }),
    );
  });
});
