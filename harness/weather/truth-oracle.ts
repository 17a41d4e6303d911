import type { Sim } from '../../sim/index.ts';
import type { Certainty } from '../../sim/truth.ts';
import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { type Interval, union, without } from '../../src/weather/window/interval.ts';
import { countDifferences } from './count-differences.ts';
import { deliveredMinutes, type Kept, wireOf } from './weather-kept.ts';

/** An interval of stream time in which a host omitted two or more collections. */
export interface Muted extends Interval {
  readonly collections: readonly CollectionName[];
}

/** Returns the differences between a stored series and the events that its host delivered. */
export function seriesDifferences(sim: Sim, kept: Kept, muted: readonly Muted[]): string[] {
  return [
    ...countDifferences(sim, kept),
    ...timeDifferences(sim, kept),
    ...collectionDifferences(sim, kept, muted),
    ...hourDifferences(sim, kept, muted),
  ];
}

/**
 * Compares the observed time with the delivered time. A difference of one second per hour is allowed, because a fault
 * can happen between two events.
 */
function timeDifferences(sim: Sim, kept: Kept): string[] {
  const { fromUs, toUs, observedSeconds } = kept;
  const seconds = (certainty: Certainty): number =>
    sim.truth.deliveredSeconds(fromUs, toUs + 1, wireOf(kept), certainty);
  const [least, most] = [seconds('certain'), seconds('possible')];
  const allowed = Math.max(0.01, (toUs - fromUs) / 3_600_000_000);
  const isRight = observedSeconds >= least - allowed && observedSeconds <= most + allowed;
  return isRight ? [] : [`the observed time differs from the delivered time by ${observedSeconds - least} s`];
}

/**
 * Compares each published collection with the oracle. When a host stops sending a collection, the time between the
 * last event before the pause and the first event after the pause is not observed. A collection that was never sent
 * must be null.
 */
function collectionDifferences(sim: Sim, kept: Kept, muted: readonly Muted[]): string[] {
  const { summary, observed } = kept;
  const window = { from: Date.parse(summary.window.start) * 1000, to: Date.parse(summary.window.end) * 1000 };
  const delivered = (['certain', 'possible'] as const).map((certainty) =>
    deliveredMinutes(sim, kept, certainty).filter(({ startUs }) => startUs >= window.from && startUs < window.to),
  );
  return collectionNames.flatMap((collection) => {
    const published = summary.collections[collection] ?? null;
    const [least, most] = delivered.map((minutes) =>
      minutes.reduce((sum, { metrics }) => sum + metrics[collection], 0),
    );
    if (published === null) return least === 0 ? [] : [`${collection} is null, expected ${least}`];
    const { total } = published;
    if (total === 0 || total < (least ?? 0) || total > (most ?? 0)) {
      return [`${collection} is ${total}, expected ${least}`];
    }
    const silences = muted
      .filter(({ collections }) => collections.includes(collection))
      .map((span) => silenceOf(sim, collection, span));
    const spans = without(clipped(observed, window), union(silences));
    const seconds = spans.reduce((sum, { from, to }) => sum + to - from, 0) / 1e6;
    return Math.abs(seconds - published.observed_seconds) < 1e-5
      ? []
      : [`${collection} was observed for ${published.observed_seconds} s, expected ${seconds} s`];
  });
}

/**
 * Compares each hour with the oracle: the delivered events and the observed time of each collection, excluding the time
 * in which the host did not send it. An hour or collection without observed time must be null.
 */
function hourDifferences(sim: Sim, kept: Kept, muted: readonly Muted[]): string[] {
  if (!kept.hours) return ['the hours are missing'];
  const { hours, collections } = kept.hours;
  const minutes = deliveredMinutes(sim, kept);
  const neverSent = new Set(collectionNames.filter((name) => minutes.every(({ metrics }) => metrics[name] === 0)));
  return hours.flatMap((hour, at) => {
    const from = Date.parse(hour.start) * 1000;
    const span = { from, to: from + hourUs };
    const own = minutes.filter(({ startUs }) => startUs >= span.from && startUs < span.to);
    const wanted = (name: CollectionName | null) => {
      const silences = muted
        .filter(({ collections: names }) => name !== null && names.includes(name))
        .map((one) => silenceOf(sim, name ?? 'like.create', one));
      const observed =
        name !== null && neverSent.has(name) ? [] : without(clipped(kept.observed, span), union(silences));
      const us = observed.reduce((sum, one) => sum + one.to - one.from, 0);
      const count = own.reduce((sum, { events, metrics }) => sum + (name === null ? events : metrics[name]), 0);
      return `${us === 0 && count === 0 ? null : count} in ${(us / 1e6).toFixed(4)} s`;
    };
    const published = (events: number | null | undefined, seconds: number | undefined) =>
      `${events} in ${(seconds ?? 0).toFixed(4)} s`;
    const pairs = collectionNames.map((name) => {
      const list = collections[name];
      return [name, published(list?.events[at], list?.observed_seconds[at]), wanted(name)] as const;
    });
    return [['all', published(hour.events, hour.observed_seconds), wanted(null)] as const, ...pairs]
      .filter(([, is, should]) => is !== should)
      .map(([name, is, should]) => `hour ${hour.start} has ${is} of ${name}, expected ${should}`);
  });
}

const hourUs = 3_600_000_000;

function clipped(spans: readonly Interval[], { from, to }: Interval): Interval[] {
  return spans
    .map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }))
    .filter((span) => span.from < span.to);
}

/** Returns the interval from a collection's last event before a span to its first event after the span. */
function silenceOf(sim: Sim, collection: CollectionName, { from, to }: Interval): Interval {
  const count = (start: number, end: number): number => sim.truth.deliveredBetween(start, end).metrics[collection];
  const far = 600_000_000;
  const last = lowest(from - far, from, (at) => count(at, from) === 0) - 1;
  const first = lowest(to, to + far, (at) => count(to, at + 1) > 0);
  return { from: last + 1, to: first };
}

/** Returns the lowest integer of a range for which a monotonic condition holds. */
function lowest(from: number, to: number, holds: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
