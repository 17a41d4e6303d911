import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { type Endpoint, legacyEndpoint } from '../window/endpoint.ts';
import { dayUs, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { healthOf, lasted } from './trouble.ts';

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
export interface Rivals {
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
