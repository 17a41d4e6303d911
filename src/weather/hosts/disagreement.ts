import { formatTimestamp } from '../../contract/timestamp.ts';
import { coverage, type Interval, union } from '../window/interval.ts';
import { percentile } from '../window/percentile.ts';
import { dayUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';

const hourUs = 3_600_000_000;
/** Minimum observed time of each host in a comparable hour, in microseconds. */
const comparableUs = hourUs - 60_000_000;
/** Number of past days whose hours determine the usual ratio. */
const historyDays = 7;
/** Minimum number of comparable hours needed to determine the usual ratio. */
const leastHours = 24;
/** Minimum deviation of an unusual ratio from the usual ratio, as a difference of logarithms. */
const leastDistance = Math.log(1.15);
/** Minimum deviation of an unusual ratio from the usual ratio, as a multiple of the median deviation. */
const distanceFactor = 6;

/** Inputs of the comparison: the store, the names of both hosts' series, and the present time. */
export interface Compared {
  readonly store: WindowStore;
  readonly published: string;
  readonly other: string;
  readonly nowUs: number;
}

/** Returns a caveat if the ratio of the two hosts' events was unusual in the last complete hour; otherwise null. */
export function disagreementCaveat(compared: Compared): string | null {
  const end = compared.nowUs - (compared.nowUs % hourUs);
  const ratios = ratiosOf(compared, { from: end - historyDays * dayUs, to: end });
  const newest = ratios.get(end - hourUs);
  const earlier = [...ratios].filter(([hour]) => hour !== end - hourUs).map(([, ratio]) => ratio);
  if (newest === undefined || earlier.length < leastHours) return null;
  const usual = median(earlier);
  const spread = median(earlier.map((ratio) => Math.abs(ratio - usual)));
  if (Math.abs(newest - usual) <= Math.max(leastDistance, distanceFactor * spread)) return null;
  return (
    `Two hosts are observed. In the hour from ${formatTimestamp((end - hourUs) / 1000)}, the ratio of their events was unusual: ` +
    `this host sent ${Math.exp(newest).toFixed(2)} times as many events as the other; the usual ratio is ${Math.exp(usual).toFixed(2)}.`
  );
}

/** Returns the logarithm of the ratio of the hosts' events for each comparable hour, keyed by the start of the hour. */
function ratiosOf({ store, published, other }: Compared, span: Interval): Map<number, number> {
  const [one, two] = [published, other].map((name) => eventsByHour(store, name, span));
  const ratios = new Map<number, number>();
  for (const [hour, events] of one ?? []) {
    const others = two?.get(hour) ?? 0;
    if (events > 0 && others > 0) ratios.set(hour, Math.log(events / others));
  }
  return ratios;
}

function eventsByHour(store: WindowStore, name: string, span: Interval): Map<number, number> {
  const { id } = store.series(name);
  const hours = (span.to - span.from) / hourUs;
  const watched = coverage(union(store.observed(id, span)), span.from, hourUs, hours);
  const events = new Map<number, number>();
  for (const row of store.windows(id, span, [])) {
    const hour = row.startUs - (row.startUs % hourUs);
    if ((watched[(hour - span.from) / hourUs] ?? 0) < comparableUs) continue;
    events.set(hour, (events.get(hour) ?? 0) + row.events);
  }
  return events;
}

function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}
