import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import {
  conditionStates,
  confidences,
  coverageStatuses,
  freshnessStates,
  gapReasons,
  labelerStates,
  signatureVerdicts,
  weatherFreshnessStates,
} from '../../src/contract/vocabulary.ts';
import { hourBaseline, readConditions } from '../../src/weather/publish/conditions.ts';
import { windowFlag, windowUs } from '../../src/weather/window/window.ts';
import { explained, table } from './markdown.ts';
import { weatherMethod } from './weather.ts';

/** The method pages state the rules that the program applies. */

/** Returns the rule for a state from the table of conditions. Throws if the table has no rule for it. */
function ruleOf(state: string): string {
  const found = new RegExp(`^\\| \`${state}\` \\| (.*) \\|$`, 'm').exec(
    weatherMethod().split('## Conditions')[1] ?? '',
  );
  if (!found?.[1]) throw new Error(`the page has no rule for ${state}`);
  return found[1];
}

/** Returns the number that a pattern captures in the rule for a state. Throws if the pattern does not match. */
function figure(state: string, pattern: RegExp): number {
  const value = Number(pattern.exec(ruleOf(state))?.[1]);
  if (!Number.isFinite(value)) throw new Error(`the rule of ${state} has no ${pattern}`);
  return value;
}

const usual: NonNullable<ReturnType<typeof hourBaseline>> = {
  support: 'supported',
  days: 30,
  p05: 80,
  p25: 90,
  p50: 100,
  p75: 110,
  p95: 120,
  turbulenceP95: 10,
};

/** Computes the condition from the rules on the page, as a reader would. The minutes never count as uneven. */
function asThePageSays(
  minutes: readonly Parameters<typeof readConditions>[0]['minutes'][number][],
  windowsLate: number,
): string {
  const newest = minutes.findLastIndex(({ eligible }) => eligible);
  const minute = minutes[newest];
  const late = windowsLate + (minutes.length - 1 - newest);
  if (!minute || late > figure('station_offline', /more than (\d+) windows/)) return 'station_offline';
  if (minute.silent) return 'unavailable';
  const recent = minutes.slice(0, newest + 1).toReversed();
  const inARow = (holds: (rate: number) => boolean): number => {
    const end = recent.findIndex(({ eligible, silent, rate }) => !eligible || silent || !holds(rate));
    return end < 0 ? recent.length : end;
  };
  const below = (percentage: number, level: number, windows: number): boolean =>
    inARow((rate) => rate < (percentage / 100) * level) >= windows;
  const row = /(\d+) windows in a row/;
  if (below(figure('unavailable', /below (\d+) % of p50/), usual.p50, figure('unavailable', row))) return 'unavailable';
  const lull = figure('lull', row);
  if (below(figure('lull', /below (\d+) % of p05/), usual.p05, lull)) {
    const settled = figure('lull', /last (\d+) windows/);
    const isSettled = recent.length >= settled && recent.slice(0, settled).every(({ flags }) => flags === 0);
    return isSettled && recent.slice(0, lull).every(({ complete }) => complete) ? 'lull' : 'unavailable';
  }
  const high = inARow((rate) => rate > usual.p75);
  const storm = minute.rate > usual.p95;
  const times = figure('severe_storm', /at least (\d+) times p50/);
  if (storm && minute.rate >= times * usual.p50 && high >= figure('severe_storm', row)) return 'severe_storm';
  if (storm && high >= figure('storm', row)) return 'storm';
  if (high >= figure('turbulent', row)) return 'turbulent';
  if (storm) return 'unsettled';
  return minute.rate > usual.p75 ? 'active' : 'calm';
}

const rate = fc.constantFrom(0, 40, 50, 70, 76, 80, 100, 110, 115, 120, 130, 299, 300, 400);
const minute = fc.record({
  rate,
  complete: fc.constantFrom(true, true, true, false),
  flags: fc.constantFrom(0, 0, 0, 0, windowFlag.seam),
  silent: fc.constantFrom(false, false, false, false, true),
});
/** A few runs of equal minutes, so that conditions last. */
const history = fc
  .array(fc.tuple(minute, fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 4 })
  .map((runs) => runs.flatMap(([one, times]) => Array.from({ length: times }, () => one)));

describe('the page about the weather method', () => {
  it('states the rules by which the instrument determines the condition', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(history, fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 3 }), (runs, late, unread) => {
        const start = 1_780_000_020_000_000;
        const minutes = runs.map((one, i) => ({
          ...one,
          startUs: start + i * windowUs,
          eligible: i < runs.length - unread,
        }));
        const nowUs = start + (runs.length + late) * windowUs;
        const reading = readConditions({ minutes, baseline: () => usual, comparableDays: () => 30, nowUs });
        if (!minutes.some(({ eligible }) => eligible)) return;
        seen.add(reading.state);
        expect(reading.state).toBe(asThePageSays(minutes, late));
      }),
      { numRuns: 3_000 },
    );
    expect([...seen].sort()).toEqual([...conditionStates].sort());
  });

  it('states how many days and windows a baseline requires', () => {
    const text = weatherMethod();
    const need = Number(/fewer than (\d+) comparable days/.exec(text)?.[1]);
    const windows = Number(/at least (\d+) windows of the/.exec(text)?.[1]);
    const supported = Number(/`supported` \| at least (\d+) comparable days/.exec(text)?.[1]);
    const days = (count: number, each: number) => Array.from({ length: count }, () => Array<number>(each).fill(5));
    expect(hourBaseline(days(need, windows))?.support).toBe('thin');
    expect(hourBaseline(days(need - 1, windows))).toBeNull();
    expect(hourBaseline(days(need, windows - 1))).toBeNull();
    expect(hourBaseline(days(supported - 1, windows))?.support).toBe('thin');
    expect(hourBaseline(days(supported, windows))?.support).toBe('supported');
  });
});

describe('the method pages', () => {
  const ids = (name: string): string[] =>
    [...readFileSync(join(root, 'assets', name), 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

  it.each([
    ['method-weather.html', 'conditions', conditionStates],
    ['method-weather.html', 'confidence', confidences],
    ['method-weather.html', 'freshness', weatherFreshnessStates],
    ['method-labels.html', 'states-of-a-labeler', labelerStates],
    ['method-labels.html', 'coverage', coverageStatuses],
    ['method-labels.html', 'gaps', gapReasons],
    ['method-labels.html', 'freshness', freshnessStates],
    ['method-labels.html', 'signatures', signatureVerdicts],
  ] as const)('have an anchor for each published value (%s, section %s)', (name, section, words) => {
    const own = ids(name).filter((id) => id.startsWith(`${section}-`));
    expect(own.sort()).toEqual(words.map((word) => `${section}-${word}`).sort());
  });

  it('use each anchor only once per page', () => {
    for (const name of ['method-weather.html', 'method-labels.html']) {
      expect(new Set(ids(name)).size).toBe(ids(name).length);
    }
  });

  it('cannot be built if a published item has no explanation, or an explained item is not published', () => {
    expect(explained(['a', 'b'], ['x'], { x: 'y' })).toBe(table(['a', 'b'], [['x', 'y']]));
    expect(() => explained(['a', 'b'], ['x'], {})).toThrow('the table does not explain the published item x');
    expect(() => explained(['a', 'b'], [], { x: 'y' })).toThrow('the table explains items that are not published: x');
  });
});
