import type { Sim } from '../../sim/index.ts';
import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { type Interval, union, without } from '../../src/weather/window/interval.ts';
import { deliveredMinutes, deliveredResync, type Kept, minutesOf, wireOf } from './weather-kept.ts';

/** Time for which a host stopped sending two or more collections, on the clock of the stream. */
export interface Muted extends Interval {
  readonly collections: readonly CollectionName[];
}

/** Returns the differences between a stored series and what its host delivered. */
export function seriesDifferences(sim: Sim, kept: Kept, muted: readonly Muted[]): string[] {
  return [...countDifferences(sim, kept), ...timeDifferences(sim, kept), ...collectionDifferences(sim, kept, muted)];
}

function countDifferences(sim: Sim, kept: Kept): string[] {
  const delivered = deliveredMinutes(sim, kept);
  const stored = new Map(minutesOf(kept).map((minute) => [minute.startUs, minute]));
  const problems = delivered.flatMap((wanted) => {
    const minute = stored.get(wanted.startUs);
    stored.delete(wanted.startUs);
    const different = Object.entries({ events: wanted.events, ...wanted.metrics }).filter(
      ([name, count]) => ({ events: minute?.events ?? 0, ...minute?.metrics })[name] !== count,
    );
    const [first] = different;
    return first ? [`${instant(wanted.startUs)}: ${different.length} counts differ, ${first[0]} was ${first[1]}`] : [];
  });
  for (const { startUs } of stored.values()) problems.push(`${instant(startUs)}: counted, but nothing was delivered`);
  const rows = kept.rows.reduce((sum, { resync }) => sum + resync, 0);
  const wanted = deliveredResync(sim, kept);
  return rows === wanted ? problems : [...problems, `${rows} rows of a re-sync instead of ${wanted}`];
}

/** Observed time may differ by one second an hour: a fault may fall between two events. */
function timeDifferences(sim: Sim, kept: Kept): string[] {
  const wanted = sim.truth.deliveredSeconds(kept.fromUs, kept.toUs + 1, wireOf(kept));
  const allowed = Math.max(0.01, (kept.toUs - kept.fromUs) / 3_600_000_000);
  const difference = kept.observedSeconds - wanted;
  return Math.abs(difference) <= allowed ? [] : [`the observed time is ${difference} s longer than the delivered time`];
}

/**
 * Compares each published collection with the oracle: the observed time of its socket without the time from its last event
 * before a host stopped sending it to its first event afterwards. A collection that a host never sent is null.
 */
function collectionDifferences(sim: Sim, kept: Kept, muted: readonly Muted[]): string[] {
  const { summary, observed } = kept;
  const window = { from: Date.parse(summary.window.start) * 1000, to: Date.parse(summary.window.end) * 1000 };
  return collectionNames.flatMap((collection) => {
    const published = summary.collections[collection] ?? null;
    const total = deliveredMinutes(sim, kept)
      .filter(({ startUs }) => startUs >= window.from && startUs < window.to)
      .reduce((sum, { metrics }) => sum + metrics[collection], 0);
    if (total === 0) return published === null ? [] : [`${collection} is published as ${published.total}`];
    if (published?.total !== total) return [`${collection} is ${published?.total ?? null} instead of ${total}`];
    const silences = muted
      .filter(({ collections }) => collections.includes(collection))
      .map((span) => silenceOf(sim, collection, span));
    const spans = without(clipped(observed, window), union(silences));
    const seconds = spans.reduce((sum, { from, to }) => sum + to - from, 0) / 1e6;
    return Math.abs(seconds - published.observed_seconds) < 1e-5
      ? []
      : [`${collection} is observed for ${published.observed_seconds} s instead of ${seconds} s`];
  });
}

function clipped(spans: readonly Interval[], { from, to }: Interval): Interval[] {
  return spans
    .map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }))
    .filter((span) => span.from < span.to);
}

/** Returns the time between the last event of a collection before a span and its first event after it. */
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

function instant(us: number): string {
  return new Date(us / 1000).toISOString();
}
