import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import type { WeatherHourSeries, WeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { ArtifactSource, Reading } from '../../artifact/reading.ts';
import { errorTable } from '../../contract/errors.ts';
import { contractIds } from '../../contract/identifiers.ts';
import { minRateSeconds } from '../../contract/limits.ts';
import {
  type CollectionName,
  collectionNames,
  type GapReason,
  type WeatherGapReason,
} from '../../contract/vocabulary.ts';
import { type Bin, type Hole, observedParts, sideOf } from '../../web/chart/series.ts';
import { countText, instantText, rateText } from '../../web/format.ts';
import { isOf, type Outcome, oncePer } from '../resources.ts';
import { currencyOf, isNow, notNow } from '../shown-facts.ts';
import type { PageChart } from './chart-figure.tsx';
import { liveTimes } from './live-time.ts';

/** Sources of the hours files of both instruments; null if the service does not know where they are. */
export interface HoursSources {
  readonly weather: ArtifactSource<WeatherHours> | null;
  readonly labels: ArtifactSource<LabelsHours> | null;
}

/** Charts made from an hours file, or the reason in words why none may be drawn. */
export type ShownHours<C> =
  | { readonly kind: 'drawn'; readonly charts: C }
  | { readonly kind: 'refused'; readonly why: string };

/** Charts of the weather: of all events, and of each collection when it is requested. */
export interface WeatherCharts {
  readonly all: PageChart;
  readonly collections: readonly CollectionName[];
  of(collection: CollectionName): PageChart;
}

/** The charts of both instruments at one instant. The objects stay the same until their files or refusals change. */
export interface HoursCharts {
  readonly weather: ShownHours<WeatherCharts>;
  readonly labels: ShownHours<PageChart>;
}

/**
 * Maximum time in milliseconds by which an hours file may be older than the fact with which it is drawn. An instrument
 * writes both in turn, so a larger difference means that one of them is no longer written.
 */
const maxLagMs = 15 * 60_000;

/**
 * Creates a function that returns the charts of the hours files. Nothing is drawn if the fact of the instrument is
 * refused or does not describe the present, or if the file is absent, invalid, held, of another network or of another
 * time than the fact.
 */
export function hoursCharts({ weather, labels }: HoursSources) {
  const weatherOf = oncePer(drawnWeather);
  const labelsOf = oncePer(drawnLabels);
  const refusal = sameRefusals();
  return ({
    conditions,
    labels: overview,
  }: {
    readonly conditions: Outcome;
    readonly labels: Outcome;
  }): HoursCharts => {
    const weatherWhy = refusedWhy(conditions, weather?.read()) ?? oldWhy(conditions);
    const labelsReading = labels?.read();
    const labelsWhy = refusedWhy(overview, labelsReading) ?? heldWhy(overview, labelsReading);
    return {
      weather: weatherWhy === null ? weatherOf(artifactOf(weather?.read())) : refusal(weatherWhy),
      labels: labelsWhy === null ? labelsOf(artifactOf(labelsReading)) : refusal(labelsWhy),
    };
  };
}

/** Returns a function that returns the same object for the same reason, so that callers can compare objects. */
function sameRefusals() {
  const known = new Map<string, ShownHours<never>>();
  return (why: string): ShownHours<never> => {
    const found = known.get(why) ?? { kind: 'refused' as const, why };
    // The reasons come from a closed list of texts.
    known.set(why, found);
    return found;
  };
}

function artifactOf<A>(reading: Reading<A> | undefined): A {
  if (reading?.kind !== 'readable') throw new Error('the hours file must be readable here');
  return reading.artifact;
}

type HoursFile = Pick<LabelsHours | WeatherHours, 'generated_at' | 'origin'>;

function refusedWhy(outcome: Outcome, reading: Reading<HoursFile> | undefined): string | null {
  if (outcome.kind === 'refused') return errorTable[outcome.code].message;
  if (reading === undefined || reading.kind === 'missing')
    return 'This service has no file with the counts of each hour.';
  if (reading.kind !== 'readable') return 'The file with the counts of each hour cannot be read.';
  const { envelope } = outcome.representation;
  const { artifact } = reading;
  if ((artifact.origin ?? 'live') !== (envelope.provenance.origin ?? 'live')) {
    return 'The file with the counts of each hour is of another network than the facts.';
  }
  const factAt = envelope.generated_at === null ? Number.NaN : Date.parse(envelope.generated_at);
  // A comparison with an unknown time is false, and then nothing is drawn.
  if (Math.abs(factAt - Date.parse(artifact.generated_at)) <= maxLagMs) return null;
  return 'The file with the counts of each hour was not written at the time of the facts.';
}

/** Returns why a weather fact does not describe the present; null if it does. Such a fact is served at any age. */
function oldWhy(conditions: Outcome): string | null {
  if (conditions.kind === 'refused') return null;
  const { envelope } = conditions.representation;
  if (!isOf(envelope, contractIds.weatherConditions)) return null;
  const currency = currencyOf(envelope);
  return isNow(currency) ? null : notNow[currency];
}

function heldWhy(outcome: Outcome, reading: Reading<LabelsHours> | undefined): string | null {
  if (outcome.kind === 'refused' || reading?.kind !== 'readable') return null;
  const { artifact } = reading;
  if (artifact.hold === true) return errorTable.source_held.message;
  const { facts } = outcome.representation.envelope;
  const epoch = 'acquisition' in facts ? facts.acquisition.generation_id : null;
  return epoch === artifact.generation_id
    ? null
    : 'The file with the counts of each hour is of another epoch than the facts.';
}

function drawnWeather({ series }: WeatherHours): ShownHours<WeatherCharts> {
  // The series of two hosts or two protocols are never added up, so only that of the summary is drawn.
  const published = series.find((one) => one.published);
  if (!published)
    return { kind: 'refused', why: 'The file with the counts of each hour has no series of the observed host.' };
  return {
    kind: 'drawn',
    charts: {
      all: weatherChart(published),
      collections: collectionNames.filter((name) => published.collections[name] !== undefined),
      of: (collection) => weatherChart(published, collection),
    },
  };
}

function drawnLabels(file: LabelsHours): ShownHours<PageChart> {
  return { kind: 'drawn', charts: labelsChart(file) };
}

/** Reasons for which no labeler was observed, in words. */
export const labelReasons: Readonly<Record<GapReason, string>> = {
  not_observed: 'not observed',
  source_unavailable: 'no labeler could be reached',
  ingest_paused: 'collection was paused',
  cursor_reset: 'the position in the streams was lost',
  maintenance: 'maintenance',
  warmup: 'before the observation began',
  unknown: 'reason unknown',
};

/** Creates the chart of label applications (above zero) and removals (below zero) by hour, of all labelers together. */
export function labelsChart(file: LabelsHours): PageChart {
  const through = Date.parse(file.through);
  const listed = file.gaps.map(
    ({ start, end, reason }): Hole => ({
      start: Date.parse(start),
      end: Date.parse(end),
      reason: labelReasons[reason],
    }),
  );
  const live = liveTimes(file);
  const hours = file.hours.map((hour, at) => ({
    ...{ start: Date.parse(hour.start), hour },
    ...(live[at] ?? { seconds: 0, reason: null }),
  }));
  const holes = withUnlistedHoles(hours, listed, through);
  const hasLate = file.hours.some(({ filled_in: late }) => late && late.applications + late.removals > 0);
  const bins = hours.map(({ start, seconds, hour, reason }): Bin => {
    const bin = binOf({ start, seconds, through, holes });
    const isUnread = seconds === 0 && reason !== null;
    // Labels that were read late arrived together after an outage, and belong to no rate of this hour.
    const counted = (count: number | null, late?: number): number | null => {
      const inTime = without(count, late);
      // No labels were observed, which differs from observing that there were none.
      return isUnread && inTime === 0 ? null : inTime;
    };
    return {
      ...bin,
      reason: bin.reason ?? reason,
      value: counted(hour.applications, hour.filled_in?.applications),
      below: counted(hour.removals, hour.filled_in?.removals),
      ...(hasLate ? { apart: hour.filled_in ? hour.filled_in.applications + hour.filled_in.removals : null } : {}),
    };
  });
  return {
    series: { id: 'labels', shape: 'bars', paint: 'labels', bins, holes, through },
    title: 'Labels applied (above) and removed (below), by hour',
    unit: 'per hour',
    answer: labelsAnswer(bins, through),
    columns: { value: 'Applied', below: 'Removed', ...(hasLate ? { apart: 'Read late' } : {}) },
    isOfAllLabelers: true,
  };
}

function without(count: number | null, part = 0): number | null {
  return count === null ? null : count - part;
}

function labelsAnswer(bins: readonly Bin[], through: number): string {
  const last = bins.filter(({ end, observed }) => end <= through && observed >= 1).at(-1);
  if (!last || last.value === null) return 'There is no full hour of collection yet.';
  return `In the last full hour of collection, ${instantText(new Date(last.start).toISOString())}, ${countText(last.value)} applications and ${countText(last.below ?? 0)} removals were observed.`;
}

const hourMs = 3_600_000;

/** Reason of a hole that the hours file does not list. */
export const unlistedReason = 'reason not recorded';

/** One hour of a file, with the seconds in which it was observed. */
interface CountedHour {
  /** Start in milliseconds since 1970. */
  readonly start: number;
  readonly seconds: number;
  /** Reason why it was not observed entirely, if the file lists no gap for that; null or absent if it is not known. */
  readonly reason?: string | null;
}

/** Returns the period, the observed share and the reasons of an hour. */
function binOf({
  start,
  seconds,
  through,
  holes,
}: CountedHour & { readonly through: number; readonly holes: readonly Hole[] }): Omit<Bin, 'value'> {
  const end = start + hourMs;
  const passed = Math.max(0, Math.min(end, through) - start);
  const observed = passed === 0 ? 1 : Math.min(1, (seconds * 1000) / passed);
  const reasons = new Set(
    holes.filter((hole) => hole.start < Math.min(end, through) && hole.end > start).map(({ reason }) => reason),
  );
  return { start, end, observed, reason: observed >= 1 || reasons.size === 0 ? null : [...reasons].join(', ') };
}

/** Adds a hole for every hour without any observed second, so that no such hour looks observed. */
function withUnlistedHoles(hours: readonly CountedHour[], listed: readonly Hole[], through: number): Hole[] {
  const unseen = hours
    .filter(({ seconds }) => !(seconds > 0))
    .map(({ start, reason }) => ({ start, end: start + hourMs, reason: reason ?? unlistedReason }));
  return [...listed, ...unlistedHoles(unseen, listed, through)].sort((a, b) => a.start - b.start);
}

/**
 * Returns holes for the parts of unobserved periods that no listed hole covers. Adjoining ones with the same reason are
 * one hole.
 */
export function unlistedHoles(
  periods: readonly { readonly start: number; readonly end: number; readonly reason?: string }[],
  listed: readonly Hole[],
  through: number,
): Hole[] {
  const added: { start: number; end: number; reason: string }[] = [];
  for (const { reason = unlistedReason, ...period } of periods) {
    for (const part of observedParts(period, { holes: listed, through })) {
      const last = added.at(-1);
      if (last?.end === part.start && last.reason === reason) last.end = part.end;
      else added.push({ ...part, reason });
    }
  }
  return added;
}

/** Reasons for which weather was not observed, in words. */
export const weatherReasons: Readonly<Record<WeatherGapReason, string>> = {
  not_observed: 'nothing arrived from the host',
  silent: 'this kind was silent while others arrived',
  not_counted: 'not counted yet by the version of that time',
  never_seen: 'never seen from this host',
};

/**
 * Creates the chart of the events per observed second: of all kinds, or of one collection. The usual range is known for
 * all kinds together only.
 */
export function weatherChart(series: WeatherHourSeries, collection: CollectionName | null = null): PageChart {
  const through = Date.parse(series.through);
  const since = series.observed_since ? Date.parse(series.observed_since) : Number.NEGATIVE_INFINITY;
  const own = collection === null ? null : series.collections[collection];
  const listed = series.gaps
    .filter((gap) => gap.collection === null || gap.collection === collection)
    .map(({ start, end, reason }): Hole => {
      const isBefore = reason === 'not_observed' && Date.parse(end) <= since;
      const words = isBefore ? 'before the observation began' : weatherReasons[reason];
      return { start: Date.parse(start), end: Date.parse(end), reason: words };
    });
  const hours = series.hours.map((hour, at) => {
    const seconds = collection === null ? hour.observed_seconds : (own?.observed_seconds[at] ?? 0);
    const events = collection === null ? hour.events : (own?.events[at] ?? null);
    // The events of an hour of which too little was observed have no rate.
    return {
      start: Date.parse(hour.start),
      seconds,
      value: events === null || seconds < minRateSeconds ? null : events / seconds,
    };
  });
  const holes = withUnlistedHoles(hours, listed, through);
  const bins = hours.map(({ start, seconds, value }, at): Bin => {
    const usual = collection === null ? series.hours[at]?.usual : undefined;
    return { ...binOf({ start, seconds, through, holes }), value, ...(usual === undefined ? {} : { usual }) };
  });
  const kind = collection === null ? 'Events' : collectionWords[collection].replace('of these, ', 'Posts: ');
  const hasUsual = bins.some(({ usual }) => usual !== undefined);
  return {
    series: {
      id: collection === null ? 'events' : collection.replaceAll('.', '-'),
      shape: 'line',
      paint: 'weather',
      bins,
      holes,
      through,
    },
    title: `${kind} per second, by hour`,
    unit: 'per second',
    answer: collection === null ? weatherAnswer(bins, series.gaps, through) : '',
    columns: { value: 'Events per second', ...(hasUsual ? { usual: 'Usual' } : {}) },
  };
}

/** Answers whether the last full hour was busier than usual, and since when. */
function weatherAnswer(bins: readonly Bin[], gaps: WeatherHourSeries['gaps'], through: number): string {
  const full = bins.filter(({ end, observed }) => end <= through && observed >= 1);
  const last = full.at(-1);
  if (!last || last.value === null) return 'No hour was observed entirely yet.';
  const text = `In the last hour that was observed entirely, ${instantText(new Date(last.start).toISOString())}, ${rateText(last.value)} events of all kinds per second arrived`;
  const side = sideOf(last, through);
  if (side === null || !last.usual) return `${text}. ${incomparableText(last, bins, gaps)}`;
  const range = `${rateText(last.usual.low)} to ${rateText(last.usual.high)}`;
  if (side === 'within') return `${text}: as usual for that hour (${range}).`;
  return `${text}: ${side === 'above' ? 'more' : 'less'} than usual for that hour (${range}), ${sinceText(bins.slice(0, bins.indexOf(last) + 1), side, through)}.`;
}

/** States that an hour has no usual range, and what is known of the reason. */
function incomparableText({ start, end }: Bin, bins: readonly Bin[], gaps: WeatherHourSeries['gaps']): string {
  const isSilent = gaps.some(
    (gap) => gap.reason === 'silent' && Date.parse(gap.start) < end && Date.parse(gap.end) > start,
  );
  if (isSilent) return 'That hour cannot be compared with earlier days; some kinds of events were silent in it.';
  if (bins.some(({ usual }) => usual)) return 'That hour cannot be compared with earlier days.';
  return 'There is too little history to say whether that is usual.';
}

/** States since when the newest hours have been on one side of their usual ranges, as far as earlier hours are known. */
function sinceText(bins: readonly Bin[], side: ReturnType<typeof sideOf>, through: number): string {
  const before = bins.findLastIndex((bin) => sideOf(bin, through) !== side);
  const [other, since] = [bins[before], bins[before + 1]];
  if (other === undefined || since === undefined) return 'for at least the hours shown';
  return `since ${instantText(new Date(since.start).toISOString())}${sideOf(other, through) === null ? ' or earlier' : ''}`;
}

/** Names of collections for readers, in the order of the contract. */
export const collectionWords: Readonly<Record<CollectionName, string>> = {
  'post.create': 'Posts',
  'post.create.reply': 'of these, replies',
  'post.create.quote': 'of these, quotes',
  'post.delete': 'Posts deleted',
  'like.create': 'Likes',
  'like.delete': 'Likes removed',
  'repost.create': 'Reposts',
  'repost.delete': 'Reposts removed',
  'follow.create': 'Follows',
  'follow.delete': 'Unfollows',
  'block.create': 'Blocks',
  'block.delete': 'Blocks lifted',
  'listitem.create': 'Added to lists',
  'listitem.delete': 'Removed from lists',
  'profile.update': 'Profiles changed',
  'identity.event': 'Identity events',
  'account.event': 'Account events',
};
