import { type MetricName, metricNames, type Species } from './events/metrics.ts';
import type { EventSource } from './events/source.ts';
import type { Filter, Wire } from './events/wire.ts';
import { passes } from './jetstream/subscription.ts';
import { type Range, RangeSet } from './ranges.ts';

const minuteUs = 60_000_000;
/** Maximum number of connections that are recorded separately. The deliveries of older connections are merged. */
const deliveryLimit = 5_000;

/** Exact counts for a part of the stream. */
export interface Counts {
  /** Number of frames with a usable `time_us`, whether or not their collection is tracked. */
  readonly events: number;
  /** Number of frames that are not JSON. */
  readonly notJson: number;
  /** Number of frames without a usable `time_us`. */
  readonly noTime: number;
  /** Number of `subscribeEvents` rows that repeat records after a `sync`. They are not new actions. */
  readonly resync: number;
  /** Count of each of the 64 metrics. */
  readonly metrics: Readonly<Record<MetricName, number>>;
}

/** Counts of one UTC minute of `time_us`. */
interface MinuteCounts extends Counts {
  readonly startUs: number;
}

/** Consecutive events that were all delivered. */
interface DeliveredRun {
  readonly fromSeq: number;
  /** Number after the last event. */
  readonly toSeq: number;
  /** `time_us` of the first event. */
  readonly fromUs: number;
  /** `time_us` of the last event. */
  readonly toUs: number;
}

/** `certain`: only events that a consumer certainly received. `possible`: also events that it may have received. */
export type Certainty = 'certain' | 'possible';

/**
 * Events that were delivered on one connection, meaning that the kernel accepted them. The record grows while the
 * connection is open.
 */
export class Delivery {
  readonly connection: number;
  readonly filter: Filter;
  readonly openedAtUs: number;
  /** Time at which the connection ended, in microseconds, or null while it is open. */
  closedAtUs: number | null = null;
  /** Number of frames sent, including repeated ones. */
  frames = 0;
  /** Number of events that were sent more than once on this connection. */
  repeated = 0;
  /** Numbers of the events that were processed. The connection's filter may have excluded some of them. */
  readonly ranges = new RangeSet();
  /**
   * Numbers of the events in failed writes. The kernel may have delivered the first part of such a write, but does not
   * report how much. When the consumer reconnects, it requests only the events that it did not receive.
   */
  readonly uncertain = new RangeSet();

  constructor(connection: number, filter: Filter, openedAtUs: number) {
    this.connection = connection;
    this.filter = filter;
    this.openedAtUs = openedAtUs;
  }

  /** Records the events and frames of a successful write. */
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

  /** Records the events of a failed write. */
  fail(sent: readonly Range[]): void {
    for (const range of sent) this.uncertain.add(range);
  }
}

/** Numbers of the events that were processed with the same filter. */
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
 * Record of all events and deliveries. It stores only the delivered ranges, and computes counts on request from the
 * species of the events.
 */
export class Truth {
  /**
   * Deliveries by connection, oldest first. If there are very many, the deliveries of the oldest closed connections are
   * merged.
   */
  readonly deliveries: Delivery[] = [];
  /** Events that exist but were withheld from every consumer. */
  readonly hidden = new RangeSet();
  readonly #source: EventSource;
  readonly #older: Readonly<Record<Certainty, Map<string, FilteredRanges>>> = {
    certain: new Map(),
    possible: new Map(),
  };

  constructor(source: EventSource) {
    this.#source = source;
  }

  /** Registers the delivery of a new connection. */
  opened(delivery: Delivery): void {
    this.deliveries.push(delivery);
    if (this.deliveries.length <= deliveryLimit) return;
    const closed = this.deliveries.findIndex(({ closedAtUs }) => closedAtUs !== null);
    for (const old of closed < 0 ? [] : this.deliveries.splice(closed, 1)) {
      gather(this.#older.certain, old);
      gather(this.#older.possible, { filter: old.filter, ranges: old.uncertain });
    }
  }

  /** Counts all events whose `time_us` lies in an interval, whether or not they were delivered. */
  countsBetween(fromUs: number, toUs: number): Counts {
    const [from, to] = [fromUs / 1_000_000, toUs / 1_000_000];
    if (this.#source.tally && Number.isInteger(from) && Number.isInteger(to)) {
      return this.#sum(this.#source.tally(from, to));
    }
    return this.#count([this.#source.span(fromUs, toUs)], fromUs, toUs, () => true);
  }

  /** Counts all events in an interval by UTC minute. The first and last minute may be incomplete. */
  minutesBetween(fromUs: number, toUs: number): MinuteCounts[] {
    return this.#byMinute(fromUs, toUs, (from, to) => this.countsBetween(from, to));
  }

  /**
   * Counts the events that at least one connection received, each once. If `wire` is given, only connections of that
   * protocol are included.
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

  /** Counts the delivered events by UTC minute. The first and last minute may be incomplete. */
  deliveredMinutes(fromUs: number, toUs: number, wire?: Wire, certainty: Certainty = 'certain'): MinuteCounts[] {
    return this.#byMinute(fromUs, toUs, (from, to) => this.deliveredBetween(from, to, wire, certainty));
  }

  /**
   * Returns the runs of events that all connections together received without a gap. The times of a run are correct
   * only if the events are sorted by time, as generated events are.
   */
  delivered(wire?: Wire, certainty: Certainty = 'certain'): DeliveredRun[] {
    return this.#union(wire, certainty).list.map(({ from, to }) => ({
      fromSeq: from,
      toSeq: to,
      fromUs: this.timeOf(from),
      toUs: this.timeOf(to - 1),
    }));
  }

  /** Returns how many seconds of stream time were delivered within an interval. */
  deliveredSeconds(fromUs: number, toUs: number, wire?: Wire, certainty: Certainty = 'certain'): number {
    return this.delivered(wire, certainty).reduce((sum, run) => {
      const overlap = Math.min(run.toUs, toUs) - Math.max(run.fromUs, fromUs);
      return sum + Math.max(0, overlap) / 1_000_000;
    }, 0);
  }

  /** Returns true if at least one connection received an event, or skipped it because of its filter. */
  wasDelivered(seq: number): boolean {
    return this.#groups().some(({ ranges }) => ranges.has(seq));
  }

  /** Returns the `time_us` of the newest event before a time. Supports only generated traffic. */
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

  /** Returns the ranges that were delivered over one protocol, or over both, by filter. */
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
          // A frame without a time belongs to no interval. Count it by its position among the other frames.
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
