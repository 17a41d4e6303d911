import { maxHours } from '../../artifact/hours/hours.ts';
import { hourUs, minDays } from '../window/earlier-days.ts';
import { coverage, union } from '../window/interval.ts';
import { percentile } from '../window/percentile.ts';
import { dayUs } from '../window/window.ts';
import { keptDays, type WindowStore } from '../window/window-store.ts';

/** Usual rate of an hour: the range of 8 of 10 earlier hours at the same time of day, in events per observed second. */
export interface UsualRate {
  readonly low: number;
  readonly high: number;
  /** Number of earlier hours from which the range was computed. */
  readonly days: number;
}

/**
 * Creates a function that returns the usual rates of the hours of an hours file, which begins at `fromUs`. Whole hours
 * are compared with whole hours: an hour counts only if it was observed entirely, and never for itself. The rates of a
 * series are read once per hour, because they change only when an hour ends.
 */
export function usualRates() {
  const known = new Map<string, { readonly fromUs: number; readonly rates: ReadonlyMap<number, number> }>();
  return (store: WindowStore, { id, name }: { readonly id: number; readonly name: string }, fromUs: number) => {
    const found = known.get(name);
    const rates = found?.fromUs === fromUs ? found.rates : wholeHourRates(store, id, fromUs);
    known.set(name, { fromUs, rates });
    return (startUs: number): UsualRate | null => usualOf(rates, startUs);
  };
}

/** Returns the rates of the entirely observed hours that earlier days can contribute, by start. */
function wholeHourRates(store: WindowStore, series: number, fromUs: number): Map<number, number> {
  const hours = keptDays * 24 + maxHours;
  const span = { from: fromUs - keptDays * dayUs, to: fromUs + maxHours * hourUs };
  const events = new Map(store.hourSums(series, span, []).map((sum) => [sum.startUs, sum.events]));
  const watched = coverage(union(store.observed(series, span)), span.from, hourUs, hours);
  const rates = new Map<number, number>();
  for (const [at, watchedUs] of watched.entries()) {
    const startUs = span.from + at * hourUs;
    if (watchedUs >= hourUs) rates.set(startUs, (events.get(startUs) ?? 0) / (hourUs / 1_000_000));
  }
  return rates;
}

function usualOf(rates: ReadonlyMap<number, number>, startUs: number): UsualRate | null {
  const earlier: number[] = [];
  for (let day = 1; day <= keptDays; day += 1) {
    const rate = rates.get(startUs - day * dayUs);
    if (rate !== undefined) earlier.push(rate);
  }
  if (earlier.length < minDays) return null;
  const sorted = Float64Array.from(earlier).sort();
  return { low: percentile(sorted, 0.1), high: percentile(sorted, 0.9), days: earlier.length };
}
