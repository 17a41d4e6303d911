import type { Sim } from '../../sim/index.ts';
import type { Faults } from '../../sim/jetstream/faults.ts';
import { type Dice, dice } from '../../sim/random.ts';
import type { Certainty } from '../../sim/truth.ts';
import type { WeatherSummary } from '../../src/artifact/recognise.ts';
import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { type Interval, union, windowUs, without } from '../../src/weather/window/window.ts';
import { deliveredMinutes, deliveredResync, type Kept, minutesOf, wireOf } from './weather-kept.ts';

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

/** The part of a published summary that states counts. */
type Published = Pick<WeatherSummary, 'source' | 'window' | 'total_events' | 'collections'>;

/**
 * Returns the published counts that differ from the delivered events of the published host. No count may exceed the
 * number of events that it may have delivered. Everything that it delivered certainly must be counted from `readSinceUs`
 * on, except events of the newest minute. If `readSinceUs` is null, events may still be missing.
 */
export function totalDifferences(sim: Pick<Sim, 'truth'>, published: Published, readSinceUs: number | null): string[] {
  const { source, window, total_events: all, collections } = published;
  const [fromUs, toUs] = [Date.parse(window.start) * 1000, Date.parse(window.end) * 1000];
  const wire = wireOf(source);
  const most = sim.truth.deliveredBetween(fromUs, toUs, wire, 'possible');
  const since = readSinceUs === null ? null : Math.max(fromUs, readSinceUs);
  const least = since === null ? null : sim.truth.deliveredBetween(since, toUs - windowUs, wire, 'certain');
  const counts = [
    ['all events', all.total, most.events, least?.events] as const,
    ...collectionNames.map((name) => {
      return [name, collections[name]?.total, most.metrics[name], least?.metrics[name]] as const;
    }),
  ];
  return counts.flatMap(([name, total, highest, lowest = 0]) => {
    // A collection without observed time has no count.
    if (total === null || total === undefined || (total >= lowest && total <= highest)) return [];
    return [`${name} is published as ${total}, expected ${lowest} to ${highest}`];
  });
}

/** A fault that is injected into one host. */
interface HostFault {
  readonly name: string;
  readonly act: (faults: Faults) => void;
}

/** Rare events for the fault `unknown`. None of them is a block, because the second host never sends blocks. */
const rareEvents = [
  ...['sync', 'unknown kind', 'null kind', 'no kind', 'unknown operation', 'no collection', 'collection is a number'],
  ...['empty collection', 'commit is a string', 'no commit', 'record null', 'record a list', 'embed without a type'],
  ...['delete with a record', 'identity', 'account throttled', 'account of unknown activity', 'untracked collection'],
];

/**
 * Faults after which each delivered event must be counted exactly once. `reorder_at_cutover` and `liar` have separate
 * tests, because their events count as late or as false.
 */
const hostFaults: readonly HostFault[] = [
  { name: 'drop at the end of a frame', act: (faults) => faults.drop({ how: 'end' }) },
  { name: 'drop by a reset', act: (faults) => faults.drop({ how: 'reset' }) },
  { name: 'drop within a frame', act: (faults) => faults.drop({ how: 'mid_frame' }) },
  { name: 'silent socket', act: (faults) => faults.silence() },
  { name: 'half-open socket', act: (faults) => faults.halfOpen() },
  { name: 'skipped time', act: (faults) => faults.skip({ seconds: 45 }) },
  { name: 'skipped numbers', act: (faults) => faults.skip({ events: 37 }) },
  { name: 'repeat', act: (faults) => faults.repeat({ events: 250 }) },
  { name: 'batches of one time', act: (faults) => faults.batchTime({ size: 7, seconds: 30 }) },
  { name: 'unreadable frames', act: (faults) => faults.malformed({ events: 40 }) },
  { name: 'unknown events', act: (faults) => faults.unknown({ events: 70, variants: rareEvents }) },
  { name: 'huge frame', act: (faults) => faults.huge({ bytes: 1_000_000 }) },
  { name: 're-sync', act: (faults) => faults.resync({ rows: 200 }) },
  { name: 'ConsumerTooSlow', act: (faults) => faults.tooSlow() },
  { name: 'going away', act: (faults) => faults.goingAway() },
  {
    name: 'refused handshakes',
    act: (faults) => {
      faults.refuse({ status: 503, times: 2 });
      faults.drop();
    },
  },
  {
    name: 'replay from before the cursor',
    act: (faults) => {
      // Replay less time than has passed since the last gap: the reader correctly ignores events that it missed before
      // its position.
      faults.replayEarlier({ seconds: 45 });
      faults.drop();
    },
  },
  {
    name: 'cursor that is too old',
    act: (faults) => {
      faults.refuse({ status: 503, times: 4 });
      faults.clampCursor({ seconds: 0 });
      faults.silence();
    },
  },
  {
    name: 'cursor in the future',
    act: (faults) => {
      faults.refuse({ status: 503, times: 4 });
      faults.futureCursor();
      faults.silence();
    },
  },
];

/** Returns all faults in an order that the seed determines. */
export function shuffledFaults(seed: number): readonly HostFault[] {
  const chance: Dice = dice(seed);
  return chance.shuffled(hostFaults);
}

/** The part of a store that contains counts. */
type Counted = Pick<Kept, 'endpoint' | 'fromUs' | 'toUs' | 'countedAtEnd' | 'rows'>;

/**
 * Returns the differences between the stored counts and the delivered events. If a write of the host failed, the
 * host's record does not show which events arrived: every count between the certain and the possible number is then
 * correct.
 */
export function countDifferences(sim: Pick<Sim, 'truth'>, kept: Counted): string[] {
  const { least, most } = bounds(sim, kept);
  const stored = new Map(minutesOf(kept).map((minute) => [minute.startUs, minute]));
  const problems: string[] = [];
  for (const [startUs, atMost] of most) {
    const minute = countsOf(stored.get(startUs));
    const atLeast = countsOf(least.get(startUs));
    stored.delete(startUs);
    const different = Object.entries(countsOf(atMost)).filter(([name, maximum]) => {
      const count = minute[name] ?? 0;
      return count < (atLeast[name] ?? 0) || count > maximum;
    });
    const [first] = different;
    if (first === undefined) continue;
    const [name, maximum] = first;
    const minimum = atLeast[name] ?? 0;
    const wanted = minimum === maximum ? `${maximum}` : `${minimum} to ${maximum}`;
    problems.push(
      `${instant(startUs)}: ${different.length} counts differ, ${name} is ${minute[name] ?? 0}, not ${wanted}`,
    );
  }
  for (const startUs of stored.keys())
    problems.push(`${instant(startUs)}: events were counted, but none were delivered`);
  return [...problems, ...resyncDifferences(sim, kept)];
}

function resyncDifferences(sim: Pick<Sim, 'truth'>, kept: Counted): string[] {
  const rows = kept.rows.reduce((sum, { resync }) => sum + resync, 0);
  const [least, most] = [deliveredResync(sim, kept, 'certain'), deliveredResync(sim, kept, 'possible')];
  return rows >= least && rows <= most ? [] : [`${rows} rows of a re-sync are stored, expected ${least} to ${most}`];
}

type Minute = Pick<ReturnType<typeof deliveredMinutes>[number], 'startUs' | 'events'> & { readonly metrics: object };

function byStart(sim: Pick<Sim, 'truth'>, kept: Counted, certainty: Certainty): Map<number, Minute> {
  return new Map(deliveredMinutes(sim, kept, certainty).map((minute) => [minute.startUs, minute]));
}

/**
 * Returns the lowest and the highest correct counts by minute. Several events can share the last `time_us`.
 * `countedAtEnd` is the number of these events that must be counted; if it is null, at least one must be counted.
 */
function bounds(sim: Pick<Sim, 'truth'>, kept: Counted): Record<'least' | 'most', Map<number, Minute>> {
  const before = { ...kept, toUs: kept.toUs - 1 };
  const [least, most] = [byStart(sim, before, 'certain'), byStart(sim, kept, 'possible')];
  const last = most.get(Math.floor(kept.toUs / windowUs) * windowUs);
  if (last === undefined) return { least, most };
  const { startUs } = last;
  const certain = least.get(startUs) ?? { startUs, events: 0, metrics: {} };
  const possible = byStart(sim, before, 'possible').get(startUs)?.events ?? 0;
  const atEnd = last.events - possible;
  const counted =
    kept.countedAtEnd === null ? { least: 1, most: atEnd } : { least: kept.countedAtEnd, most: kept.countedAtEnd };
  least.set(startUs, { ...certain, events: certain.events + Math.min(counted.least, atEnd) });
  most.set(startUs, { ...last, events: possible + Math.min(counted.most, atEnd) });
  return { least, most };
}

function countsOf(minute: Pick<Minute, 'events' | 'metrics'> | undefined): Readonly<Record<string, number>> {
  return minute === undefined ? {} : { events: minute.events, ...minute.metrics };
}

function instant(us: number): string {
  return new Date(us / 1000).toISOString();
}
