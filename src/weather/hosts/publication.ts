import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import type { Log } from '../../ops/log.ts';
import type { SeriesReading } from '../publish/read-summary.ts';
import { type Endpoint, legacyEndpoint } from '../window/endpoint.ts';
import type { Failover } from '../window/failover-state.ts';
import type { Interval } from '../window/interval.ts';
import { storeFault } from '../window/store-faults.ts';
import type { WindowStore } from '../window/window-store.ts';
import { disagreementCaveat } from './disagreement.ts';
import { decideHost, failoverCaveat } from './failover.ts';
import { createSeriesReader, type SeriesReader } from './series-reader.ts';
import { predecessorOf, successionCaveat, takesOver } from './succession.ts';
import { healthOf } from './trouble.ts';

/** An observed host, with its series of both protocols. */
export interface ObservedHost {
  readonly endpoint: Endpoint;
  /** The host's legacy series while it is still published instead of the present one, otherwise null. */
  predecessor: Endpoint | null;
  /** Stops the reading of the host over the legacy protocol when it is aborted. */
  readonly retiring: AbortController;
}

/** Options for creating a publication. */
export interface PublicationOptions {
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
