import type { WeatherSummary } from '../../artifact/recognise.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { readSeries, type SeriesReading, type SummarySource } from '../publish/read-summary.ts';
import type { Usual } from '../silence/silence.ts';
import { storedUsual } from '../silence/usual.ts';
import { type Endpoint, legacyEndpoint } from '../window/endpoint.ts';
import { percentile } from '../window/minute.ts';
import type { Failover } from '../window/silence-store.ts';
import { storeFault } from '../window/store-schema.ts';
import { coverage, dayUs, type Interval, union, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { decideHost, failoverCaveat, healthOf, lasted } from './failover.ts';

/** An observed host, with its series of both protocols. */
export interface ObservedHost {
  readonly endpoint: Endpoint;
  /** The host's legacy series while it is still published instead of the present one, otherwise null. */
  predecessor: Endpoint | null;
  /** Stops the reading of the host over the legacy protocol when it is aborted. */
  readonly retiring: AbortController;
}

/** Options for creating a publication. */
interface PublicationOptions {
  readonly store: WindowStore;
  /** Endpoints of one or two hosts, the preferred one first. */
  readonly endpoints: readonly Endpoint[];
  readonly startedUs: number;
  readonly log: Log;
}

/** The choice of the published series. A series belongs to one host and one protocol; series are never mixed. */
export interface Publication {
  readonly hosts: readonly ObservedHost[];
  /** Returns the series that the last summary was read from. */
  published(): Endpoint;
  /** Returns each host's series, and each host's legacy series if the legacy series was observed in the span. */
  series(span: Interval): readonly Endpoint[];
  /** Returns the start of the failover in microseconds, or null while the first host is published. */
  failoverSinceUs(): number | null;
  /** Reads the summary of the published series. */
  read(nowUs: number): WeatherSummary;
}

/** State shared by the functions of a publication. */
interface Publishing extends PublicationOptions {
  readonly reader: SeriesReader;
}

/**
 * Creates a publication, which continues with the state that an earlier process stored. Throws if there is no
 * endpoint.
 */
export function createPublication(options: PublicationOptions): Publication {
  const { store, endpoints } = options;
  const hosts = endpoints.map((endpoint) => ({
    endpoint,
    predecessor: predecessorOf(store, endpoint),
    retiring: new AbortController(),
  }));
  const [first, second] = hosts;
  if (!first) throw new Error('there is no host to observe');
  const publishing: Publishing = { ...options, reader: createSeriesReader() };
  const seriesOf = ({ endpoint, predecessor }: ObservedHost): Endpoint => predecessor ?? endpoint;
  let failover = second ? store.failover(store.series(second.endpoint.name).id) : null;
  return {
    hosts,
    published: () => seriesOf(failover && second ? second : first),
    series: (span) => hosts.flatMap(({ endpoint }) => [endpoint, ...earlierSeries(store, endpoint, span)]),
    failoverSinceUs: () => failover?.sinceUs ?? null,
    read: (nowUs) => {
      const one = readHost(publishing, first, nowUs);
      if (!second) return one.summary;
      const two = readHost(publishing, second, nowUs);
      const next = decide(publishing, failover, [one, two], nowUs);
      if (next !== failover) keepFailover(publishing, second, failover, next);
      failover = next;
      return withHostCaveats(store, failover, [one.summary, two.summary], nowUs);
    },
  };
}

/** Returns the legacy series of a host that uses `subscribeEvents`, if that series was observed in the span. */
function earlierSeries(store: WindowStore, endpoint: Endpoint, span: Interval): Endpoint[] {
  const legacy = legacyEndpoint(endpoint);
  if (endpoint.wire === 'jetstream.legacy' || !store.has(legacy.name)) return [];
  return store.observed(store.series(legacy.name).id, span).length > 0 ? [legacy] : [];
}

/**
 * Reads the summary of a host. The host's legacy series is published until the present series permanently replaces it.
 */
function readHost({ store, reader, log }: Publishing, host: ObservedHost, nowUs: number): SeriesReading {
  const { endpoint, predecessor } = host;
  const origin = endpoint.simulated ? 'simulated' : 'live';
  const own = reader.read({ store, endpoint, origin, nowUs });
  if (!predecessor) return own;
  const rivals = { store, nowUs, present: endpoint.name, legacy: predecessor.name, summary: own.summary };
  if (takesOver(rivals)) {
    store.takeOver(store.series(endpoint.name).id);
    host.predecessor = null;
    host.retiring.abort();
    log.info('the series of the present protocol is now published', { endpoint: endpoint.name });
    return own;
  }
  const caveats = [successionCaveat(store, endpoint.name, nowUs)];
  return reader.read({ store, endpoint: predecessor, origin, nowUs, caveats });
}

/** Returns the failover that applies now, or null. Returns the current object if the failover does not change. */
function decide(
  { store, startedUs }: Publishing,
  current: Failover | null,
  [one, two]: readonly [SeriesReading, SeriesReading],
  nowUs: number,
): Failover | null {
  const health = ({ summary, silentSinceUs }: SeriesReading) =>
    healthOf({ store, name: summary.source.endpoint, nowUs, silentSinceUs });
  const next = decideHost({ current, first: health(one), second: health(two), nowUs, startedUs });
  return next?.unwellUs === current?.unwellUs && next?.sinceUs === current?.sinceUs ? current : next;
}

/** Stores a changed failover, and logs the change of the published host. */
function keepFailover(
  { store, log }: Publishing,
  second: ObservedHost,
  current: Failover | null,
  next: Failover | null,
): void {
  if ((next === null) !== (current === null)) {
    log.warn(next ? 'the second host is now published' : 'the first host is published again', {
      ...(next ? { reason: next.trouble.reason } : {}),
    });
  }
  try {
    store.keepFailover(store.series(second.endpoint.name).id, next);
  } catch (error) {
    // Ignore a full disk, because the decision is made again after a restart.
    if (storeFault(error) !== 'full') throw error;
  }
}

/** Returns the summary of the published host. Inserts the caveats about both hosts before the summary's own caveats. */
function withHostCaveats(
  store: WindowStore,
  failover: Failover | null,
  [one, two]: readonly [WeatherSummary, WeatherSummary],
  nowUs: number,
): WeatherSummary {
  const [chosen, other] = failover ? [two, one] : [one, two];
  const caveats = [
    failover ? failoverCaveat(failover) : null,
    disagreementCaveat({ store, published: chosen.source.endpoint, other: other.source.endpoint, nowUs }),
  ].filter((caveat) => caveat !== null);
  return { ...chosen, caveats: [...caveats, ...(chosen.caveats ?? [])] };
}

/** Silence of the legacy protocol after which an active present protocol replaces it, in microseconds. */
const silentUs = 3_600_000_000;
const baselineDays = 7;

/**
 * Returns the legacy series of a host, which remains published until the present series (`subscribeEvents`) replaces
 * it. Returns null if there is no such series, or if it has been replaced.
 */
export function predecessorOf(store: WindowStore, endpoint: Endpoint): Endpoint | null {
  if (endpoint.wire !== 'jetstream.subscribeEvents' || store.series(endpoint.name).tookOver) return null;
  const legacy = legacyEndpoint(endpoint);
  return store.has(legacy.name) && store.series(legacy.name).live !== null ? legacy : null;
}

/** The present and the legacy series of a host at the time when an artifact is due. */
interface Rivals {
  readonly store: WindowStore;
  readonly nowUs: number;
  /** Name of the present series. */
  readonly present: string;
  /** Name of the legacy series. */
  readonly legacy: string;
  /** Summary of the present series. */
  readonly summary: WeatherSummary;
}

/**
 * Returns true if the present series replaces the legacy one: it has a baseline of seven days, or it has been observed
 * for an hour in which the legacy series was in trouble.
 */
export function takesOver({ store, nowUs, present, legacy, summary }: Rivals): boolean {
  const everything = { from: 0, to: nowUs };
  const own = store.observed(store.series(present).id, everything);
  const first = own[0];
  const newest = own.at(-1);
  if (!first || !newest) return false;
  const lived = nowUs - first.from >= baselineDays * dayUs;
  if (lived && summary.conditions.confidence !== 'unsupported') return true;
  const { trouble } = healthOf({ store, name: legacy, nowUs, silentSinceUs: null });
  return lasted(trouble, nowUs, 0) >= silentUs && newest.to > nowUs - 3 * windowUs && nowUs - first.from > silentUs;
}

/** Returns the caveat of the artifact while the legacy series is published. */
export function successionCaveat(store: WindowStore, present: string, nowUs: number): string {
  const first = store.observed(store.series(present).id, { from: 0, to: nowUs })[0];
  const days = first ? Math.floor((nowUs - first.from) / dayUs) : 0;
  return (
    `These counts come from the host's legacy protocol. Its present protocol has been observed for ${days} of the ${baselineDays} days ` +
    'that a baseline requires; after that, the series of the present protocol is published instead. Counts of both series are never added.'
  );
}

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
interface Compared {
  readonly store: WindowStore;
  readonly published: string;
  readonly other: string;
  readonly nowUs: number;
}

/** Returns a caveat if the ratio of the two hosts' events was unusual in the last complete hour; otherwise null. */
function disagreementCaveat(compared: Compared): string | null {
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

/** Reads series. Remembers their usual counts, and stores the silences that it finds. */
interface SeriesReader {
  read(source: Omit<SummarySource, 'usual'>): SeriesReading;
}

/**
 * Creates a series reader. It reads the usual counts of each hour only once a day, because reading all hours takes up
 * to a second.
 */
export function createSeriesReader(): SeriesReader {
  const known = new Map<number, { readonly day: number; readonly usual: Usual }>();
  return {
    read: (source) => {
      const { store, endpoint, nowUs } = source;
      const { id } = store.series(endpoint.name);
      const day = Math.floor(nowUs / dayUs);
      const before = known.get(id);
      const usual = before?.day === day ? before.usual : storedUsual(store, id);
      known.set(id, { day, usual });
      const reading = readSeries({ ...source, usual });
      keep(source, id, reading);
      return reading;
    },
  };
}

/**
 * Stores silences, unless the disk is full. The stored silences are required for the baselines of later days, and for
 * reading a span that begins during a silence.
 */
function keep({ store }: Pick<SummarySource, 'store'>, series: number, { span, silences }: SeriesReading): void {
  if (silences.length === 0 && store.silences(series, span).length === 0) return;
  try {
    store.keepSilences(series, span, silences);
  } catch (error) {
    // Ignore a full disk, because the next call of `read` finds the silences again.
    if (storeFault(error) !== 'full') throw error;
  }
}
