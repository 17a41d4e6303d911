import { minDays, minMinutes } from '../window/earlier-days.ts';
import { percentile, variation } from '../window/percentile.ts';

/** Number of minutes over which unevenness is measured. */
export const turbulenceMinutes = 10;
/** Minimum number of days of history for a fully supported comparison. */
export const supportedDays = 20;

/** Usual rates in one UTC hour of the day, in interactions per observed second. */
export interface HourBaseline {
  readonly support: 'thin' | 'supported';
  readonly days: number;
  readonly p05: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
  /** 95th percentile of the unevenness of ten consecutive minutes, or null if none was measured. */
  readonly turbulenceP95: number | null;
}

/**
 * Returns the number of earlier days that have enough comparable minutes in an hour. `days` has the same form as in
 * `hourBaseline`.
 */
export function comparableDays(days: readonly (readonly number[])[]): number {
  return comparable(days).length;
}

/**
 * Computes an hour's baseline from the rates of its eligible minutes, given as one list per day. Returns null if there
 * are fewer than 7 days. Minutes are compared with minutes, never with hourly means.
 */
export function hourBaseline(days: readonly (readonly number[])[]): HourBaseline | null {
  const speaking = comparable(days);
  if (speaking.length < minDays) return null;
  const rates = Float64Array.from(speaking.flat()).sort();
  const turbulences = Float64Array.from(speaking.flatMap(turbulencesOf)).sort();
  return {
    support: speaking.length >= supportedDays ? 'supported' : 'thin',
    days: speaking.length,
    p05: percentile(rates, 0.05),
    p25: percentile(rates, 0.25),
    p50: percentile(rates, 0.5),
    p75: percentile(rates, 0.75),
    p95: percentile(rates, 0.95),
    turbulenceP95: turbulences.length > 0 ? percentile(turbulences, 0.95) : null,
  };
}

function comparable(days: readonly (readonly number[])[]): readonly (readonly number[])[] {
  return days.filter((rates) => rates.length >= minMinutes);
}

function turbulencesOf(rates: readonly number[]): number[] {
  const found: number[] = [];
  for (let end = turbulenceMinutes; end <= rates.length; end += 1) {
    const uneven = variation(rates.slice(end - turbulenceMinutes, end));
    if (uneven !== null) found.push(uneven);
  }
  return found;
}
