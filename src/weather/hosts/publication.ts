import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import type { Log } from '../../ops/log.ts';
import type { SeriesReading } from '../publish/read-summary.ts';
import type { Endpoint } from '../window/endpoint.ts';
import type { Failover } from '../window/failover-state.ts';
import { storeFault } from '../window/store-faults.ts';
import type { WindowStore } from '../window/window-store.ts';
import { disagreementCaveat } from './disagreement.ts';
import { decideHost, failoverCaveat } from './failover.ts';
import { createSeriesReader } from './series-reader.ts';
import { predecessorOf, successionCaveat, takesOver } from './succession.ts';
import { healthOf } from './trouble.ts';

/** A host that is observed. */
export interface ObservedHost {
  readonly endpoint: Endpoint;
  /** The legacy series of the host, while it is the one that stands for the host. */
  predecessor: Endpoint | null;
  /** Aborted once the legacy wire is no longer read. */
  readonly retiring: AbortController;
}

/** Input of a publication. */
export interface PublicationOptions {
  readonly store: WindowStore;
  /** One host or two, the preferred one first. */
  readonly endpoints: readonly Endpoint[];
  readonly startedUs: number;
  readonly log: Log;
}

/** The choice of the series that is published: one host and one wire, entirely. */
export interface Publication {
  readonly hosts: readonly ObservedHost[];
  /** The series of the last summary. */
  published(): Endpoint;
  /** Reads the summary of the published series. */
  read(nowUs: number): WeatherSummary;
}

/** Begins to publish, where an earlier process left off. */
export function createPublication({ store, endpoints, startedUs, log }: PublicationOptions): Publication {
  const hosts = endpoints.map((endpoint) => ({
    endpoint,
    predecessor: predecessorOf(store, endpoint),
    retiring: new AbortController(),
  }));
  const reader = createSeriesReader();
  const [first, second] = hosts;
  if (!first) throw new Error('no host to observe');
  const seriesOf = ({ endpoint, predecessor }: ObservedHost): Endpoint => predecessor ?? endpoint;
  let failover = second ? store.failover(store.series(second.endpoint.name).id) : null;

  /** Two series of one host: the legacy one stands for it until the present one takes over, once and for good. */
  function readHost(host: ObservedHost, nowUs: number): SeriesReading {
    const { endpoint, predecessor } = host;
    const origin = endpoint.simulated ? 'simulated' : 'live';
    const own = reader.read({ store, endpoint, origin, nowUs });
    if (!predecessor) return own;
    const rivals = { store, nowUs, present: endpoint.name, legacy: predecessor.name, summary: own.summary };
    if (takesOver(rivals)) {
      store.takeOver(store.series(endpoint.name).id);
      host.predecessor = null;
      host.retiring.abort();
      log.info('the series of the present wire is published from now on', { endpoint: endpoint.name });
      return own;
    }
    const caveats = [successionCaveat(store, endpoint.name, nowUs)];
    return reader.read({ store, endpoint: predecessor, origin, nowUs, caveats });
  }

  function choose(one: SeriesReading, two: SeriesReading, other: ObservedHost, nowUs: number): Failover | null {
    const health = ({ summary, silentSinceUs }: SeriesReading) =>
      healthOf({ store, name: summary.source.endpoint, nowUs, silentSinceUs });
    const next = decideHost({ current: failover, first: health(one), second: health(two), nowUs, startedUs });
    if (next === failover || (next?.unwellUs === failover?.unwellUs && next?.sinceUs === failover?.sinceUs))
      return next;
    if ((next === null) !== (failover === null)) {
      log.warn(next ? 'the second host is published from now on' : 'the first host is published again', {
        ...(next ? { reason: next.trouble.reason } : {}),
      });
    }
    try {
      store.keepFailover(store.series(other.endpoint.name).id, next);
    } catch (error) {
      // A full disk: it is decided again after a restart.
      if (storeFault(error) !== 'full') throw error;
    }
    return next;
  }

  return {
    hosts,
    published: () => seriesOf(failover && second ? second : first),
    read: (nowUs) => {
      const one = readHost(first, nowUs);
      if (!second) return one.summary;
      const two = readHost(second, nowUs);
      failover = choose(one, two, second, nowUs);
      const [chosen, left] = failover ? [two.summary, one.summary] : [one.summary, two.summary];
      const caveats = [
        failover ? failoverCaveat(failover) : null,
        disagreementCaveat({ store, published: chosen.source.endpoint, other: left.source.endpoint, nowUs }),
      ].filter((caveat) => caveat !== null);
      return { ...chosen, caveats: [...caveats, ...(chosen.caveats ?? [])] };
    },
  };
}
