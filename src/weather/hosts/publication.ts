import type { WeatherSummary } from '../../artifact/recognise.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { createSeriesReader, type SeriesReader, type SeriesReading } from '../publish/read-summary.ts';
import { type Endpoint, legacyEndpoint } from '../window/endpoint.ts';
import { type Failover, type Silence, storeFault } from '../window/store-schema.ts';
import { coverage, dayUs, hourUs, type Interval, median, union, windowFlag, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';

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
  /**
   * Returns each host's series, and each host's legacy series if it is published instead or was observed in the span.
   */
  series(span: Interval): readonly Endpoint[];
  /** Returns the start of the failover in microseconds, or null while the first host is published. */
  failoverSinceUs(): number | null;
  /** Reads the summary of the published series. */
  read(nowUs: number): WeatherSummary;
  /** Returns the silences of a series that overlap the span, including those that a full disk did not store. */
  silences(series: number, span: Interval): readonly Silence[];
}

/** State shared by the functions of a publication. */
interface Publishing extends PublicationOptions {
  readonly reader: SeriesReader;
  /** Start of this process, in microseconds. It is never later than the last read, because the clock may be set back. */
  startedUs: number;
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
    series: (span) =>
      hosts.flatMap(({ endpoint, predecessor }) => [
        endpoint,
        ...(predecessor ? [predecessor] : earlierSeries(store, endpoint, span)),
      ]),
    failoverSinceUs: () => failover?.sinceUs ?? null,
    silences: (series, span) => publishing.reader.silences(store, series, span),
    read: (nowUs) => {
      publishing.startedUs = Math.min(publishing.startedUs, nowUs);
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
  const caveats = [successionCaveat(own.summary)];
  const legacy = reader.read({ store, endpoint: predecessor, origin, nowUs, caveats });
  if (takesOver({ store, nowUs, present: own, legacy })) {
    store.takeOver(store.series(endpoint.name).id);
    host.predecessor = null;
    host.retiring.abort();
    log.info('the series of the present protocol is now published', { endpoint: endpoint.name });
    return own;
  }
  return legacy;
}

/** Returns the failover that applies now, or null. Returns the current object if the failover does not change. */
function decide(
  { store, startedUs }: Publishing,
  current: Failover | null,
  [one, two]: readonly [SeriesReading, SeriesReading],
  nowUs: number,
): Failover | null {
  const [first, second] = [healthIn(store, one, nowUs), healthIn(store, two, nowUs)];
  const next = decideHost({ current, first, second, nowUs, startedUs });
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

/** Times by which the published host changes, in microseconds. */
export const failoverRule = {
  /**
   * Time for which the first host must have been in trouble, and the second host healthy, before a failover, in
   * microseconds.
   */
  failoverUs: 15 * windowUs,
  /** Time without trouble after which the first host is published again, in microseconds. */
  quietUs: dayUs,
  /**
   * Longest gap of a healthy series, in microseconds. Short gaps are normal, because hosts restart and readers reconnect.
   */
  bearableGapUs: 5 * windowUs,
  /**
   * Time for which the first host must have been healthy to be published again while the second host is in trouble, in
   * microseconds.
   */
  recoveredUs: 60 * windowUs,
};
const { failoverUs, quietUs, bearableGapUs, recoveredUs } = failoverRule;

/** Inputs of the failover decision. */
interface FailoverInput {
  /** The failover in effect, or null while the first host is published. */
  readonly current: Failover | null;
  readonly first: Health;
  readonly second: Health;
  readonly nowUs: number;
  /**
   * Start of this process, in microseconds. If trouble began before this time, only its duration since this time
   * counts.
   */
  readonly startedUs: number;
}

/** Decides which of two hosts is published. Returns the failover for the second host, or null for the first host. */
export function decideHost({ current, first, second, nowUs, startedUs }: FailoverInput): Failover | null {
  if (!current) {
    const { trouble } = first;
    if (!trouble || lasted(trouble, nowUs, startedUs) < failoverUs || second.wellForUs < failoverUs) return null;
    return { sinceUs: nowUs, trouble, unwellUs: nowUs };
  }
  // A clock that was set back may have left a time in the future.
  const unwellUs = first.trouble ? nowUs : Math.min(current.unwellUs, nowUs);
  if (nowUs - unwellUs >= quietUs) return null;
  if (lasted(second.trouble, nowUs, startedUs) >= failoverUs && first.wellForUs >= recoveredUs) return null;
  return { ...current, unwellUs };
}

/** Returns the caveat that the artifact contains while the second host is published. The caveat names no host. */
export function failoverCaveat({ sinceUs, trouble }: Failover): string {
  const why =
    trouble.reason === 'silent'
      ? 'was silent in collections that make up much of the interactions'
      : 'was not observed';
  return (
    `All data is from the second of two observed hosts, published since ${instant(sinceUs)} because the first ${why} from ` +
    `${instant(trouble.sinceUs)} onwards. The first one is published again after a day without trouble, or after an hour without trouble if the second has been in trouble for 15 minutes. Counts of two hosts are never added.`
  );
}

/** Health of a series at one time. */
interface Health {
  /** Current trouble of the series, or null while the series is healthy. */
  readonly trouble: Failover['trouble'] | null;
  /**
   * Time for which the series has been healthy, in microseconds, limited to one day. It is 0 while the series is in
   * trouble.
   */
  readonly wellForUs: number;
}

/** Input for computing the health of a series. */
interface HealthInput {
  readonly store: WindowStore;
  /** Name of the series. */
  readonly name: string;
  readonly nowUs: number;
  /**
   * Start of the silence of collections that make up more than 5 % of the interactions, in microseconds, or null if
   * there is no such silence.
   */
  readonly silentSinceUs: number | null;
  /** Latest end of such a silence of the last day, in microseconds, or null if there is none. */
  readonly silentUntilUs: number | null;
}

/** Computes the health of a series from its silences and its observed spans of the last day. */
export function healthOf({ store, name, nowUs, silentSinceUs, silentUntilUs }: HealthInput): Health {
  const from = nowUs - dayUs;
  const observed = union(store.observed(store.series(name).id, { from, to: nowUs + windowUs }));
  let observedTo = from;
  let wellSinceUs = from;
  for (const span of observed) {
    if (span.from - observedTo > bearableGapUs) wellSinceUs = span.from;
    observedTo = span.to;
  }
  const troubles: Failover['trouble'][] = [];
  if (nowUs - observedTo > bearableGapUs) troubles.push({ reason: 'unobserved', sinceUs: observedTo });
  if (silentSinceUs !== null) troubles.push({ reason: 'silent', sinceUs: silentSinceUs });
  const [trouble = null] = troubles.sort((a, b) => a.sinceUs - b.sinceUs);
  return { trouble, wellForUs: trouble ? 0 : nowUs - Math.max(wellSinceUs, silentUntilUs ?? 0) };
}

function healthIn(store: WindowStore, reading: SeriesReading, nowUs: number): Health {
  const { summary, silentSinceUs, silentUntilUs } = reading;
  return healthOf({ store, name: summary.source.endpoint, nowUs, silentSinceUs, silentUntilUs });
}

/**
 * Returns how long a trouble has lasted at `nowUs`, in microseconds, or 0 if there is no trouble. Time before the start
 * of this process is excluded.
 */
function lasted(trouble: Failover['trouble'] | null, nowUs: number, startedUs: number): number {
  return trouble ? nowUs - Math.max(trouble.sinceUs, startedUs) : 0;
}

/** Time for which the legacy series must be in trouble for a healthy present series to replace it, in microseconds. */
const successionUs = hourUs;
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
  readonly present: SeriesReading;
  readonly legacy: SeriesReading;
}

/**
 * Returns true if the present series replaces the legacy one: it has a baseline of seven days, or it has been healthy and
 * read live for an hour in which the legacy series was in trouble. While this machine was suspended or the instrument stopped,
 * both series were unobserved, and one of them may be read from the host's history first. That time is no evidence.
 */
export function takesOver({ store, nowUs, present, legacy }: Rivals): boolean {
  const { summary } = present;
  const { id } = store.series(summary.source.endpoint);
  const sinceUs = store.observedSince(id);
  if (sinceUs === null) return false;
  const lived = nowUs - sinceUs >= baselineDays * dayUs;
  if (lived && summary.conditions.confidence !== 'unsupported') return true;
  const { trouble } = healthIn(store, legacy, nowUs);
  if (healthIn(store, present, nowUs).wellForUs < successionUs || lasted(trouble, nowUs, 0) < successionUs)
    return false;
  const lastHour = store.windows(id, { from: nowUs - successionUs, to: nowUs }, []);
  return lastHour.every(({ flags }) => (flags & windowFlag.replayed) === 0);
}

/** Returns the caveat of the artifact while the legacy series is published. `own` is the summary of the present series. */
function successionCaveat(own: WeatherSummary): string {
  const days = own.baseline?.observed_days ?? baselineDays;
  return (
    `These counts come from the host's legacy protocol. Its present protocol has ${days} of the ${baselineDays} earlier days of this hour that a ` +
    'baseline requires. Once its conditions can be compared with a baseline, its series is published instead. ' +
    'Counts of both series are never added.'
  );
}

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

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}
