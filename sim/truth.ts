import { type MetricName, metricNames, type Species } from './events/metrics.ts';
import type { EventSource } from './events/source.ts';
import type { Filter, Wire } from './events/wire.ts';
import { passes } from './jetstream/subscription.ts';
import { type Range, RangeSet } from './ranges.ts';

const minuteUs = 60_000_000;
/** Maximum number of connections that are recorded separately. The deliveries of older connections are merged. */
const deliveryLimit = 5_000;

/** Exact counts of a part of the stream. */
export interface Counts {
  /** Number of frames with a usable `time_us`, tracked or not. */
  readonly events: number;
  /** Number of frames that are not JSON. */
  readonly notJson: number;
  /** Number of frames without a usable `time_us`. */
  readonly noTime: number;
  /** Number of rows of the method that repeat records after a `sync`, which are not new actions. */
  readonly resync: number;
  /** Counts of all 64 metrics. */
  readonly metrics: Readonly<Record<MetricName, number>>;
}

/** The counts of one UTC minute of `time_us`. */
export interface MinuteCounts extends Counts {
  readonly startUs: number;
}

/** Consecutive events that were delivered without a gap. */
export interface DeliveredRun {
  readonly fromSeq: number;
  /** Number after the last event. */
  readonly toSeq: number;
  /** `time_us` of the first event. */
  readonly fromUs: number;
  /** `time_us` of the last event. */
  readonly toUs: number;
}

/** `certain`: only events that a consumer received. `possible`: also events that it may have received. */
export type Certainty = 'certain' | 'possible';

/**
 * Events delivered on one connection, which are all events that the kernel accepted for it. The record grows while the
 * connection is open.
 */
export class Delivery {
  readonly connection: number;
  readonly filter: Filter;
  readonly openedAtUs: number;
  /** Time of the connection's end, in microseconds, or null while it is open. */
  closedAtUs: number | null = null;
  /** Number of sent frames, including repeated ones. */
  frames = 0;
  /** Number of events that were sent more than once on this connection. */
  repeated = 0;
  /** Numbers of processed events; a filter may have excluded some of them. */
  readonly ranges = new RangeSet();
  /**
   * Numbers of the events of a write that failed. The kernel may have accepted and delivered its first part, and does not
   * report how much: the consumer requests again only what it did not receive.
   */
  readonly uncertain = new RangeSet();

  constructor(connection: number, filter: Filter, openedAtUs: number) {
    this.connection = connection;
    this.filter = filter;
    this.openedAtUs = openedAtUs;
  }

  /** Adds the events and frames of one write. */
  add(sent: readonly Range[], frames: number): void {
    const before = this.ranges.size;
    let passed = 0;
    for (const range of sent) {
      this.ranges.add(range);
      passed += range.to - range.from;
    }
    this.repeated += passed - (this.ranges.size - before);
    this.frames += frames;
  }

  /** Adds the events of a write that failed. */
  fail(sent: readonly Range[]): void {
    for (const range of sent) this.uncertain.add(range);
  }
}

/** Numbers of events that were processed under one filter. */
interface FilteredRanges {
  readonly filter: Filter;
  readonly ranges: RangeSet;
}

function gather(groups: Map<string, FilteredRanges>, { filter, ranges }: FilteredRanges): void {
  const key = [filter.wire, filter.kinds.toSorted(), filter.wantedCollections.toSorted()].join();
  const group = groups.get(key) ?? { filter, ranges: new RangeSet() };
  for (const range of ranges.list) group.ranges.add(range);
  groups.set(key, group);
}

/**
 * Record of all events and deliveries. The record stores only the delivered ranges, and computes the counts of a
 * requested interval from the generator's table of meanings.
 */
export class Truth {
  /**
   * Deliveries by connection, oldest first. The deliveries of the oldest connections are merged if there are very many
   * connections.
   */
  readonly deliveries: Delivery[] = [];
  /** Events that exist and were withheld from every consumer. */
  readonly hidden = new RangeSet();
  readonly #source: EventSource;
  readonly #older: Readonly<Record<Certainty, Map<string, FilteredRanges>>> = {
    certain: new Map(),
    possible: new Map(),
  };

  constructor(source: EventSource) {
    this.#source = source;
  }

  /** Adds the delivery of a new connection. */
  opened(delivery: Delivery): void {
    this.deliveries.push(delivery);
    if (this.deliveries.length <= deliveryLimit) return;
    const closed = this.deliveries.findIndex(({ closedAtUs }) => closedAtUs !== null);
    for (const old of closed < 0 ? [] : this.deliveries.splice(closed, 1)) {
      gather(this.#older.certain, old);
      gather(this.#older.possible, { filter: old.filter, ranges: old.uncertain });
    }
  }

  /** Returns counts of all events with `time_us` in an interval, delivered or not. */
  countsBetween(fromUs: number, toUs: number): Counts {
    const [from, to] = [fromUs / 1_000_000, toUs / 1_000_000];
    if (this.#source.tally && Number.isInteger(from) && Number.isInteger(to)) {
      return this.#sum(this.#source.tally(from, to));
    }
    return this.#count([this.#source.span(fromUs, toUs)], fromUs, toUs, () => true);
  }

  /** Returns the counts of all events in an interval by UTC minute, whole or cut at the ends. */
  minutesBetween(fromUs: number, toUs: number): MinuteCounts[] {
    return this.#byMinute(fromUs, toUs, (from, to) => this.countsBetween(from, to));
  }

  /**
   * Returns the counts of the events that at least one connection received, each counted once. Includes only
   * connections of one protocol if `wire` is given.
   */
  deliveredBetween(fromUs: number, toUs: number, wire?: Wire, certainty: Certainty = 'certain'): Counts {
    const groups = this.#groups(wire, certainty);
    const everything = this.#union(wire, certainty);
    const span = this.#source.span(fromUs, toUs);
    const ranges = everything.list
      .map(({ from, to }) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) }))
      .filter(({ from, to }) => from < to);
    const [only] = groups;
    const given =
      groups.length === 1 && only
        ? (_: number, species: Species) => passes(only.filter, species)
        : (seq: number, species: Species) =>
            groups.some(({ filter, ranges: set }) => set.has(seq) && passes(filter, species));
    return this.#count(ranges, fromUs, toUs, given);
  }

  /** Returns the counts of delivered events by UTC minute, whole or cut at the ends. */
  deliveredMinutes(fromUs: number, toUs: number, wire?: Wire, certainty: Certainty = 'certain'): MinuteCounts[] {
    return this.#byMinute(fromUs, toUs, (from, to) => this.deliveredBetween(from, to, wire, certainty));
  }

  /** Returns the intervals without a gap that all connections together received. Only for generated traffic. */
  delivered(wire?: Wire, certainty: Certainty = 'certain'): DeliveredRun[] {
    return this.#union(wire, certainty).list.map(({ from, to }) => ({
      fromSeq: from,
      toSeq: to,
      fromUs: this.timeOf(from),
      toUs: this.timeOf(to - 1),
    }));
  }

  /** Returns the seconds of the stream's clock within delivered intervals. */
  deliveredSeconds(fromUs: number, toUs: number, wire?: Wire, certainty: Certainty = 'certain'): number {
    return this.delivered(wire, certainty).reduce((sum, run) => {
      const overlap = Math.min(run.toUs, toUs) - Math.max(run.fromUs, fromUs);
      return sum + Math.max(0, overlap) / 1_000_000;
    }, 0);
  }

  /** Returns true if at least one connection received an event, or skipped it by its filter. */
  wasDelivered(seq: number): boolean {
    return this.#groups().some(({ ranges }) => ranges.has(seq));
  }

  /** Returns the `time_us` of the newest event before a time. Only for generated traffic. */
  newestBefore(timeUs: number): number {
    return this.timeOf(this.#source.seek(timeUs) - 1);
  }

  /** Returns the `time_us` of an event. */
  timeOf(seq: number): number {
    const { first, timeUs } = this.#source.plan(seq);
    return timeUs[seq - first] ?? 0;
  }

  #union(wire: Wire | undefined, certainty: Certainty): RangeSet {
    const union = new RangeSet();
    for (const { ranges } of this.#groups(wire, certainty)) for (const range of ranges.list) union.add(range);
    return union;
  }

  /** Returns the ranges that were delivered over one protocol, or over both. */
  #groups(wire?: Wire, certainty: Certainty = 'certain'): FilteredRanges[] {
    const groups = new Map<string, FilteredRanges>();
    for (const given of [...this.#older.certain.values(), ...this.deliveries]) gather(groups, given);
    if (certainty === 'possible') {
      for (const given of this.#older.possible.values()) gather(groups, given);
      for (const { filter, uncertain } of this.deliveries) gather(groups, { filter, ranges: uncertain });
    }
    return [...groups.values()].filter(({ filter }) => wire === undefined || filter.wire === wire);
  }

  #byMinute(fromUs: number, toUs: number, count: (fromUs: number, toUs: number) => Counts): MinuteCounts[] {
    const minutes: MinuteCounts[] = [];
    for (let startUs = Math.floor(fromUs / minuteUs) * minuteUs; startUs < toUs; startUs += minuteUs) {
      minutes.push({ startUs, ...count(Math.max(startUs, fromUs), Math.min(startUs + minuteUs, toUs)) });
    }
    return minutes;
  }

  #count(
    ranges: readonly Range[],
    fromUs: number,
    toUs: number,
    counted: (seq: number, species: Species) => boolean,
  ): Counts {
    const bySpecies: number[] = [];
    for (const { from, to } of ranges) {
      for (let seq = from; seq < to; ) {
        const { first, count, timeUs, species } = this.#source.plan(seq);
        const end = Math.min(to, first + count);
        for (; seq < end; seq++) {
          const time = timeUs[seq - first] ?? 0;
          const index = species[seq - first] ?? 0;
          const meaning = this.#source.species[index];
          // Count a frame without a time at its position in the file or in the grid, because such a frame belongs to no
          // window.
          const inside = meaning?.outcome === 'event' || time > 0 ? time >= fromUs && time < toUs : true;
          if (meaning && inside && counted(seq, meaning)) bySpecies[index] = (bySpecies[index] ?? 0) + 1;
        }
      }
    }
    return this.#sum(bySpecies);
  }

  #sum(bySpecies: ArrayLike<number>): Counts {
    const metrics = Object.fromEntries(metricNames.map((name) => [name, 0])) as Record<MetricName, number>;
    const outcomes = { event: 0, not_json: 0, no_time: 0, resync: 0 };
    this.#source.species.forEach((meaning, index) => {
      const count = bySpecies[index] ?? 0;
      outcomes[meaning.outcome] += count;
      for (const name of meaning.metrics) metrics[name] += count;
    });
    const { event: events, not_json: notJson, no_time: noTime, resync } = outcomes;
    return { events, notJson, noTime, resync, metrics };
  }
}
