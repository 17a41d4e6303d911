import type { HoursReadings } from '../../src/archive/hours/hour-lists.ts';
import type { LabelerHours, LabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../src/artifact/hours/weather-hours.ts';

/**
 * Hours files of simulated instruments, and the counts that a reader of an archive must find. A count depends only on
 * its hour, so two files agree unless a gap became known after the first file was generated.
 */

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Retention time of a simulated store. */
const keptMs = 45 * 24 * hourMs;
/** Labelers of the simulated instrument, in DID order. */
export const simulatedLabelers = ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'did:web:labels.example.com'] as const;
/** Collections of the simulated weather instrument. */
export const simulatedCollections = ['post.create', 'like.create'] as const;
/** Host of the simulated weather instrument. */
const simulatedHost = 'jetstream.example';

/** An interval that an instrument did not observe, in milliseconds since 1970. */
export interface SimulatedGap {
  readonly start: number;
  readonly end: number;
  /** Time at which the instrument detects the gap; defaults to its start. */
  readonly knownAt?: number;
  /** Labeler that was not observed; defaults to all labelers. */
  readonly labeler?: string;
  /** Collection that was not observed; defaults to all collections. */
  readonly collection?: string;
}

/** Faults of the simulated instruments. */
export interface SimulatedFaults {
  readonly weather?: readonly SimulatedGap[];
  readonly labels?: readonly SimulatedGap[];
  /** DIDs of the labelers; defaults to `simulatedLabelers`. */
  readonly labelers?: readonly string[];
  /** Hosts of the weather instrument; defaults to `simulatedHost` alone, with the gaps in `weather`. */
  readonly hosts?: readonly SimulatedHostState[];
  /** Number of the label store's epoch, a single digit; defaults to 1. */
  readonly epoch?: number;
  /** Collections of the weather instrument; defaults to `simulatedCollections`. */
  readonly collections?: readonly string[];
  /** Returns the count of an observed hour by its place in the file; defaults to `countOf`. */
  readonly count?: (name: string, place: number) => number;
}

/** State of a weather host at one time, with the host's own gaps. */
interface SimulatedHostState {
  readonly host: string;
  readonly published: boolean;
  readonly gaps: readonly SimulatedGap[];
}

/** Returns the number of events of a collection, or of applied labels of a labeler, in a fully observed hour. */
function simulatedCount(name: string, start: number): number {
  return ((start / hourMs) % 97) * (name.length + 3) + (name.charCodeAt(name.length - 1) % 7) + 1;
}

/** Returns the number of seconds of an interval that no gap covers. */
export function observedSeconds(start: number, end: number, gaps: readonly SimulatedGap[]): number {
  const inside = gaps
    .map((gap) => [Math.max(start, gap.start), Math.min(end, gap.end)] as const)
    .filter(([from, to]) => from < to)
    .sort(([a], [b]) => a - b);
  let [lost, at] = [0, start];
  for (const [from, to] of inside) {
    lost += Math.max(0, to - Math.max(from, at));
    at = Math.max(at, to);
  }
  return Math.max(0, end - start - lost) / 1000;
}

/** Returns the count of an hour in proportion to its observed seconds; null if nothing was observed. */
export function countOf(name: string, start: number, seconds: number): number | null {
  return seconds === 0 ? null : Math.ceil((simulatedCount(name, start) * seconds) / 3600);
}

/** Returns the results of reading the hours files generated at `now`. */
export function simulatedHours(now: number, faults: SimulatedFaults = {}): HoursReadings {
  const { weather, labels } = simulatedFiles(now, faults);
  return { weather: { kind: 'readable', artifact: weather }, labels: { kind: 'readable', artifact: labels } };
}

/** Returns the hours files generated at `now`. */
export function simulatedFiles(
  now: number,
  faults: SimulatedFaults = {},
): { readonly weather: WeatherHours; readonly labels: LabelsHours } {
  const through = Math.floor((now - minuteMs) / minuteMs) * minuteMs;
  const last = Math.floor(through / hourMs) * hourMs;
  const starts = Array.from({ length: 72 }, (_, at) => last - (71 - at) * hourMs);
  const { collections = simulatedCollections, count } = faults;
  const shared: Shared = {
    ...{ now, through, starts, collections },
    counts: (name, hours) =>
      hours.map(({ at, seconds }, place) =>
        count === undefined || seconds === 0 ? countOf(name, at, seconds) : count(name, place),
      ),
  };
  const labelGaps = knownGaps(faults.labels, shared);
  const hosts = faults.hosts ?? [{ host: simulatedHost, published: true, gaps: faults.weather ?? [] }];
  const series = hosts.map((one) => weatherSeries(shared, { ...one, gaps: knownGaps(one.gaps, shared) }));
  const weather: WeatherHours = { schema: 'weather.hours.v1', generated_at: iso(now), series };
  const labels = labelsFile(shared, labelGaps, faults.labelers ?? simulatedLabelers, faults.epoch ?? 1);
  return { weather, labels };
}

/** Returns the gaps that an instrument has detected, cut off at the end of the last closed minute. */
function knownGaps(gaps: readonly SimulatedGap[] = [], { now, through }: Shared): SimulatedGap[] {
  return gaps
    .filter(({ start, knownAt = start }) => knownAt <= now && start < through)
    .map((gap) => ({ ...gap, end: Math.min(gap.end, through) }));
}

interface Shared {
  readonly now: number;
  readonly through: number;
  readonly starts: readonly number[];
  readonly collections: readonly string[];
  readonly counts: (name: string, hours: ReturnType<typeof hoursOf>) => (number | null)[];
}

const iso = (at: number): string => new Date(at).toISOString();
const gapOf = ({ start, end }: SimulatedGap) => ({ start: iso(start), end: iso(end) });

function hoursOf({ through, starts }: Pick<Shared, 'through' | 'starts'>, gaps: readonly SimulatedGap[]) {
  return starts.map((start) => {
    const end = Math.min(start + hourMs, through);
    const complete = end === start + hourMs;
    return { at: start, start: iso(start), complete, seconds: end > start ? observedSeconds(start, end, gaps) : 0 };
  });
}

/**
 * Returns the start of a host's observation: the retention limit, or the end of a gap that contains this limit.
 * Returns null if the host was not observed before the end of the file.
 */
function observedSince({ starts, through }: Shared, gaps: readonly SimulatedGap[]): string | null {
  let since = (starts[0] ?? 0) - keptMs;
  const whole = gaps.filter(({ collection }) => collection === undefined).sort((a, b) => a.start - b.start);
  for (const { start, end } of whole) if (start <= since) since = Math.max(since, end);
  return since < through ? iso(since) : null;
}

function weatherSeries(shared: Shared, { host, published, gaps }: SimulatedHostState): WeatherHours['series'][number] {
  const shownIn = gaps.filter(({ end }) => end > (shared.starts[0] ?? 0));
  const all = hoursOf(
    shared,
    gaps.filter(({ collection }) => collection === undefined),
  );
  const collections = shared.collections.map((name) => {
    const own = hoursOf(
      shared,
      gaps.filter(({ collection = name }) => collection === name),
    );
    return [name, { events: shared.counts(name, own), observed_seconds: own.map(({ seconds }) => seconds) }];
  });
  const events = shared.counts('total', all);
  return {
    endpoint: `wss://${host}/subscribe`,
    wire: 'jetstream.legacy',
    published,
    through: iso(shared.through),
    observed_since: observedSince(shared, gaps),
    hours: all.map(({ start, complete, seconds }, place) => {
      return { start, complete, observed_seconds: seconds, events: events[place] ?? null };
    }),
    collections: Object.fromEntries(collections) as WeatherHours['series'][number]['collections'],
    gaps: shownIn.map((gap) => ({
      ...gapOf(gap),
      reason: gap.collection === undefined ? ('not_observed' as const) : ('silent' as const),
      collection: (gap.collection ?? null) as WeatherHours['series'][number]['gaps'][number]['collection'],
    })),
    gap_overflow: false,
  };
}

function labelsFile(
  shared: Shared,
  gaps: readonly SimulatedGap[],
  dids: readonly string[],
  epoch: number,
): LabelsHours {
  const instrument = gaps.filter(({ labeler }) => labeler === undefined);
  const since = shared.starts[0] ?? 0;
  const labelers = dids.map((did): LabelerHours => {
    const own = hoursOf(
      shared,
      gaps.filter(({ labeler = did }) => labeler === did),
    );
    return {
      labeler_did: did,
      applications: shared.counts(did, own),
      removals: shared.counts('removal', own),
      observed_seconds: own.map(({ seconds }) => seconds),
      gaps: gaps
        .filter(({ labeler, end }) => labeler === did && end > since)
        .map((gap) => ({ ...gapOf(gap), reason: 'source_unavailable' as const })),
      gap_overflow: false,
    };
  });
  const sum = (values: readonly (number | null | undefined)[]): number =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  return {
    schema: 'labels.hours.v1',
    generated_at: iso(shared.now),
    generation_id: `00000000-0000-4000-8000-00000000000${epoch}`,
    started_at: iso(since),
    through: iso(shared.through),
    hours: hoursOf(shared, instrument).map(({ start, complete, seconds }, place) => {
      const labelerSeconds = sum(labelers.map((one) => one.observed_seconds[place]));
      const total = (list: 'applications' | 'removals') =>
        labelerSeconds === 0 ? null : sum(labelers.map((one) => one[list][place]));
      return {
        start,
        complete,
        observed_seconds: seconds,
        labeler_seconds: labelerSeconds,
        applications: total('applications'),
        removals: total('removals'),
        repeats: labelerSeconds === 0 ? null : 0,
        sources: seconds === 0 ? null : { ...noSources, at: start, enrolled: dids.length, established: dids.length },
      };
    }),
    gaps: instrument
      .filter(({ end }) => end > since)
      .map((gap) => ({ ...gapOf(gap), reason: 'ingest_paused' as const })),
    gap_overflow: false,
    labelers,
    omitted: 0,
  };
}

const noSources = {
  unstarted: 0,
  probing: 0,
  refused: 0,
  cursor_order_unverified: 0,
  undated_only: 0,
  provider_rejects: 0,
  unavailable: 0,
};
