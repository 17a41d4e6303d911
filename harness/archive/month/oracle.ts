import type { SimulatedGap } from '../simulated-hours.ts';
import { countOf, simulatedCollections } from '../simulated-hours.ts';
import * as plan from './plan.ts';

/**
 * Computes the expected content of the month's archive second by second, from the injected faults and from the times at
 * which the archiver could use a file. It follows only the rules stated in docs/archive.md, independently of the
 * archive's code.
 */

const [minuteMs, hourMs] = [60_000, 3_600_000];
const hoursOfFile = 72;
const wire = 'jetstream.legacy';

/** Maps the start of each hour to the time at which the file with the hour's current values was written. */
type KnownHours = Map<number, number>;

/** State of one second: 0 is unobserved, 1 observed, and 2 later than the end of the file. */
type Second = 0 | 1 | 2;
/** Names of the states of a second. */
export const [unobserved, observed, later]: readonly [Second, Second, Second] = [0, 1, 2];

const iso = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
const cell = (value: number | null | undefined): string => (value === null || value === undefined ? '' : String(value));
const startsOf = (day: string): number[] => Array.from({ length: 24 }, (_, hour) => Date.parse(day) + hour * hourMs);

/** Returns the state of each second of an hour according to a file that was written at `madeAt`. */
function secondsOf(start: number, madeAt: number, gaps: readonly SimulatedGap[]): Second[] {
  const through = Math.floor((madeAt - minuteMs) / minuteMs) * minuteMs;
  const near = gaps.filter((gap) => gap.start < start + hourMs && gap.end > start);
  const known = near.filter((gap) => (gap.knownAt ?? gap.start) <= madeAt);
  return Array.from({ length: 3_600 }, (_, second): Second => {
    const at = start + second * 1_000;
    if (at >= through) return later;
    return known.some((gap) => gap.start <= at && at < gap.end) ? unobserved : observed;
  });
}

function observedIn(start: number, madeAt: number, gaps: readonly SimulatedGap[]): number {
  return secondsOf(start, madeAt, gaps).filter((one) => one === observed).length;
}

/** Returns the starts of the hours in a file. The last hour contains the end of the last closed minute. */
function hoursIn(madeAt: number): number[] {
  const through = Math.floor((madeAt - minuteMs) / minuteMs) * minuteMs;
  const last = Math.floor(through / hourMs) * hourMs;
  return Array.from({ length: hoursOfFile }, (_, back) => last - (hoursOfFile - 1 - back) * hourMs);
}

const gapsOf = (all: readonly SimulatedGap[], key: 'collection' | 'labeler', name: string): SimulatedGap[] =>
  all.filter((gap) => gap[key] === undefined || gap[key] === name);

/** Expected content of the tables and the gap manifests. */
export class MonthOracle {
  readonly #weather = new Map<string, KnownHours>();
  readonly #labels: KnownHours = new Map();
  readonly #closed = new Set<string>();
  readonly #madeAt = { weather: Number.NEGATIVE_INFINITY, labels: Number.NEGATIVE_INFINITY };

  /**
   * Records that the archiver read a file that was written at `madeAt`. `madeAt` is null if the archiver must not use
   * the file. Ignores a file that is not newer than the last recorded file.
   */
  copied(instrument: 'weather' | 'labels', madeAt: number | null): void {
    if (madeAt === null || madeAt <= this.#madeAt[instrument]) return;
    this.#madeAt[instrument] = madeAt;
    const hours = hoursIn(madeAt).filter((start) => !this.#closed.has(iso(start).slice(0, 10)));
    for (const start of hours) {
      if (instrument === 'weather') this.#copyWeather(start, madeAt);
      else this.#copyLabels(start, madeAt);
    }
  }

  /** Records that a day was closed, which makes its hours final. */
  closed(day: string): void {
    this.#closed.add(day);
  }

  /**
   * Records an hour of each host from a weather file. The file of a new store lacks the time before the old store was
   * lost. Therefore an hour must not replace a known hour that has more observed seconds.
   */
  #copyWeather(start: number, madeAt: number): void {
    for (const { host, gaps } of plan.hostsAt(madeAt)) {
      const own: KnownHours = this.#weather.get(host) ?? new Map<number, number>();
      this.#weather.set(host, own);
      const isNew = madeAt >= plan.lostStores.weather && start <= plan.lostStores.weather;
      const known = own.get(start);
      const isLost = isNew && known !== undefined && known < plan.lostStores.weather;
      const before = isLost ? observedIn(start, known, wholeGaps(gapsAt(host, known))) : 0;
      if (before === 0 || observedIn(start, madeAt, wholeGaps(gaps)) >= before) own.set(start, madeAt);
    }
  }

  #copyLabels(start: number, madeAt: number): void {
    const known = this.#labels.get(start);
    const isSameEpoch = known === undefined || plan.epochAt(known) === plan.epochAt(madeAt);
    if (isSameEpoch || observedIn(start, madeAt, instrumentGaps) > observedIn(start, known, instrumentGaps)) {
      this.#labels.set(start, madeAt);
    }
  }

  /** Returns the hosts with known hours on a day, in table order. */
  hostsOf(day: string): string[] {
    const hosts = [...this.#weather].filter(([, hours]) => startsOf(day).some((start) => hours.has(start)));
    return hosts.map(([host]) => host).sort();
  }

  /**
   * Returns the state of each second of a host's hour, for one collection, or for all collections if `collection` is
   * null. Returns null for an unknown hour.
   */
  weatherSeconds(host: string, start: number, collection: string | null): Second[] | null {
    const known = this.#weather.get(host)?.get(start);
    if (known === undefined) return null;
    const gaps = gapsAt(host, known);
    const own = collection === null ? wholeGaps(gaps) : gapsOf(gaps, 'collection', collection);
    return secondsOf(start, known, own);
  }

  /**
   * Returns the state of each second of a labeler's hour, or of the instrument's hour if `did` is null. Returns null
   * for an unknown hour or labeler.
   */
  labelSeconds(did: string | null, start: number): Second[] | null {
    const known = this.#labels.get(start);
    if (known === undefined) return null;
    if (did === null) return secondsOf(start, known, instrumentGaps);
    if (!listedAt(known).includes(did)) return null;
    return secondsOf(start, known, gapsOf(plan.labelGaps, 'labeler', did));
  }

  /** Returns the expected rows of `weather-totals`. */
  totalRows(day: string): string[][] {
    const host = this.#publishedHost(day, this.hostsOf(day));
    return host === undefined
      ? []
      : this.#hourRows(day, host, null).map(([time, counts]) => [...time, ...counts, host, wire]);
  }

  /** Returns the expected rows of `weather-collections`. */
  collectionRows(day: string): string[][] {
    const host = this.#publishedHost(day, this.hostsOf(day));
    if (host === undefined) return [];
    const rows = simulatedCollections.map((name) =>
      this.#hourRows(day, host, name).map(([time, counts]) => [...time, name, ...counts, host]),
    );
    return rows.flat().sort(byHour);
  }

  /** Returns the expected rows of `weather-other-hosts`. */
  otherRows(day: string): string[][] {
    const hosts = this.hostsOf(day);
    const published = this.#publishedHost(day, hosts);
    const others = hosts.filter((host) => host !== published);
    const rows = others.map((host) =>
      this.#hourRows(day, host, null).map(([time, counts]) => [...time, host, ...counts, wire]),
    );
    return rows.flat().sort(byHour);
  }

  #hourRows(day: string, host: string, collection: string | null): [string[], string[]][] {
    return startsOf(day).flatMap((start): [string[], string[]][] => {
      const seconds = count(this.weatherSeconds(host, start, collection));
      const events = seconds === null ? null : countOf(collection ?? 'total', start, seconds);
      return events === null
        ? []
        : [
            [
              [day, iso(start)],
              [String(events), String(seconds)],
            ],
          ];
    });
  }

  /** Returns the expected seconds of the gaps in `weather-gaps` with the scope `all` (null) or of a collection. */
  weatherGapSeconds(day: string, collection: string | null): number {
    const host = this.#publishedHost(day, this.hostsOf(day));
    const missing = (name: string | null, start: number): boolean[] => {
      const own = host === undefined ? null : this.weatherSeconds(host, start, name);
      return Array.from({ length: 3_600 }, (_, second) => own?.[second] !== observed);
    };
    return startsOf(day).reduce((total, start) => {
      const whole = missing(null, start);
      const own = collection === null ? whole : missing(collection, start).map((is, at) => is && whole[at] !== true);
      return total + own.filter(Boolean).length;
    }, 0);
  }

  #publishedHost(day: string, hosts: readonly string[]): string | undefined {
    const { first, second } = plan.hosts;
    const isSecond = startsOf(day).some((start) => (count(this.weatherSeconds(second, start, null)) ?? 0) > 0);
    return isSecond || !hosts.includes(first) ? second : first;
  }

  /** Returns the expected rows of `labels-totals`. */
  labelRows(day: string): string[][] {
    return startsOf(day).flatMap((start) => {
      const known = this.#labels.get(start);
      if (known === undefined) return [];
      const each = listedAt(known).map((did) => this.#labelerHour(did, start));
      const [applications, removals] = [sum(each.map((one) => one.applications)), sum(each.map((one) => one.removals))];
      if (applications === null) return [];
      const seconds = [observedIn(start, known, instrumentGaps), sum(each.map((one) => one.seconds))];
      return [[day, iso(start), ...[applications, removals, ...seconds, 0].map(cell)]];
    });
  }

  /** Returns the expected rows of `labels-sources`. */
  sourceRows(day: string): string[][] {
    return startsOf(day).flatMap((start) => {
      const known = this.#labels.get(start);
      if (known === undefined || observedIn(start, known, instrumentGaps) === 0) return [];
      const listed = listedAt(known).length;
      return [[day, iso(start), ...[listed, 0, 0, listed, 0, 0, 0, 0, 0].map(cell)]];
    });
  }

  /** Returns the expected rows of `labels-labelers`. */
  labelerRows(day: string): string[][] {
    return plan.labelers.flatMap(({ did }) => {
      const each = startsOf(day).map((start) => this.#labelerHour(did, start));
      const [applications, removals] = [sum(each.map((one) => one.applications)), sum(each.map((one) => one.removals))];
      if (applications === null) return [];
      const hours = each.filter(({ seconds }) => (seconds ?? 0) > 0).length;
      return [[day, did, ...[applications, removals, sum(each.map(({ seconds }) => seconds)), hours].map(cell)]];
    });
  }

  #labelerHour(did: string, start: number) {
    const seconds = count(this.labelSeconds(did, start));
    if (seconds === null) return { seconds, applications: null, removals: null };
    return { seconds, applications: countOf(did, start, seconds), removals: countOf('removal', start, seconds) };
  }
}

const instrumentGaps = plan.labelGaps.filter(({ labeler }) => labeler === undefined);

/** Returns the gaps of a host in the file written at `madeAt`. */
function gapsAt(host: string, madeAt: number): readonly SimulatedGap[] {
  return plan.hostsAt(madeAt).find((one) => one.host === host)?.gaps ?? [];
}

function byHour([, a = '']: string[], [, b = '']: string[]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function wholeGaps(gaps: readonly SimulatedGap[]): SimulatedGap[] {
  return gaps.filter(({ collection }) => collection === undefined);
}

function listedAt(madeAt: number): string[] {
  return plan.listedLabelers(madeAt).map(({ did }) => did);
}

function count(seconds: readonly Second[] | null): number | null {
  return seconds?.filter((one) => one === observed).length ?? null;
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
