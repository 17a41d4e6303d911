import type { LabelerHours, LabelsHour, LabelsHours } from '../../artifact/hours/labels-hours.ts';
import {
  dayList,
  type HoursFailure,
  notedFailures,
  placeOf,
  replacedEntries,
  replacedGaps,
  type Span,
  spansOf,
  throughOf,
} from './hour-lists.ts';
import {
  type DayHour,
  type DayLabeler,
  type FilledInPart,
  type LabelGap,
  type LabelsDay,
  sourceStates,
} from './labels-day.ts';

/**
 * Merges the hours of a newer file into the labels of a day; returns the same object if the file is not newer or has
 * no hour to replace. An hour from another generation of the label store replaces a known hour only if its observed
 * time is longer.
 */
export function mergeLabels(kept: LabelsDay, file: LabelsHours): LabelsDay {
  if (kept.generated_at !== null && Date.parse(file.generated_at) <= Date.parse(kept.generated_at)) return kept;
  const index = replacedPlaces(kept, file);
  if (index.size === 0) return kept;
  const places = [...index.keys()];
  const hours = replacedEntries(kept.hours, places, (place) => {
    const hour = file.hours[index.get(place) ?? -1];
    return hour ? dayHour(hour, file) : null;
  });
  const spans = spansOf(kept.day, places);
  return {
    ...kept,
    generated_at: file.generated_at,
    failures: kept.failures.map((failure, place) => (hours[place] ? null : failure)),
    hours,
    gaps: replacedGaps(kept.gaps, file.gaps.map(gapOf), spans),
    gap_overflow: kept.gap_overflow || file.gap_overflow,
    labelers: mergedLabelers(kept, file, { index, places, spans }),
    omitted: Math.max(kept.omitted, file.omitted),
  };
}

/** Returns the labels of a day, with `reason` noted for each past hour without data. */
export function noteLabelsFailure(kept: LabelsDay, reason: HoursFailure, now: number): LabelsDay {
  const isKnown = (place: number): boolean => kept.hours[place] !== null;
  return { ...kept, failures: notedFailures(kept.day, kept.failures, { reason, isKnown, now }) };
}

/**
 * Returns the hours of the day that the file replaces, as a map from the index within the day to the index within the
 * file.
 */
function replacedPlaces({ day, hours }: LabelsDay, file: LabelsHours): Map<number, number> {
  const index = new Map<number, number>();
  for (const [at, hour] of file.hours.entries()) {
    const place = placeOf(day, hour.start);
    if (place === null) continue;
    const known = hours[place];
    const isSameEpoch = !known || known.generation_id === file.generation_id;
    if (isSameEpoch || hour.observed_seconds > known.observed_seconds) index.set(place, at);
  }
  return index;
}

function dayHour(hour: LabelsHour, { generation_id, through }: LabelsHours): DayHour {
  const { observed_seconds, labeler_seconds, applications, removals, repeats, sources } = hour;
  const counts = { observed_seconds, labeler_seconds, applications, removals, repeats };
  const { filled_in: part, labels_per_hour } = hour;
  return {
    ...{ generation_id, through: throughOf(hour.start, through), ...counts },
    ...(part && { filled_in: { labeler_seconds: part.labeler_seconds, ...partOf(part) } }),
    ...(labels_per_hour !== undefined && { labels_per_hour }),
    sources: sources && sourcesOf(sources),
  };
}

/** Numbers of a part that belongs to no rate. */
interface PartNumbers {
  readonly applications: number;
  readonly removals: number;
  readonly observed_seconds: number;
}

function partOf({ applications, removals, observed_seconds }: PartNumbers): PartNumbers {
  return { applications, removals, observed_seconds };
}

function sourcesOf(sources: NonNullable<LabelsHour['sources']>): NonNullable<DayHour['sources']> {
  const states = Object.fromEntries(sourceStates.map((state) => [state, sources[state]])) as Record<
    (typeof sourceStates)[number],
    number
  >;
  return { at: sources.at, enrolled: sources.enrolled, ...states };
}

function gapOf({ start, end, reason }: LabelGap): LabelGap {
  return { start, end, reason };
}

interface Replacement {
  readonly index: ReadonlyMap<number, number>;
  readonly places: readonly number[];
  readonly spans: readonly Span[];
}

function mergedLabelers(kept: LabelsDay, file: LabelsHours, replacement: Replacement): DayLabeler[] {
  const news = new Map(file.labelers.map((one) => [one.labeler_did, one]));
  const before = new Map(kept.labelers.map((one) => [one.labeler_did, one]));
  const dids = [...new Set([...before.keys(), ...news.keys()])].sort();
  return dids
    .map((did) => mergedLabeler(before.get(did) ?? unknownLabeler(did), news.get(did), replacement))
    .filter(isKnown);
}

function unknownLabeler(did: string): DayLabeler {
  const [applications, removals] = [dayList<number | null>(null), dayList<number | null>(null)];
  return { labeler_did: did, applications, removals, observed_seconds: dayList(0), gaps: [], gap_overflow: false };
}

function mergedLabeler(kept: DayLabeler, news: LabelerHours | undefined, replacement: Replacement): DayLabeler {
  const { index, places, spans } = replacement;
  const entry = <T>(list: readonly T[] | undefined, place: number): T | undefined => list?.[index.get(place) ?? -1];
  return {
    labeler_did: kept.labeler_did,
    applications: replacedEntries(kept.applications, places, (place) => entry(news?.applications, place) ?? null),
    removals: replacedEntries(kept.removals, places, (place) => entry(news?.removals, place) ?? null),
    observed_seconds: replacedEntries(
      kept.observed_seconds,
      places,
      (place) => entry(news?.observed_seconds, place) ?? 0,
    ),
    ...replacedParts(kept, news, index),
    gaps: replacedGaps(kept.gaps, (news?.gaps ?? []).map(gapOf), spans),
    gap_overflow: kept.gap_overflow || (news?.gap_overflow ?? false),
  };
}

/** Returns the parts that belong to no rate, of which those in the replaced hours are from the newer file. */
function replacedParts(
  kept: DayLabeler,
  news: LabelerHours | undefined,
  index: ReadonlyMap<number, number>,
): Pick<DayLabeler, 'filled_in'> {
  const placeOfHour = new Map([...index].map(([place, at]) => [at, place]));
  const own = (news?.filled_in ?? []).flatMap(({ at, ...part }): FilledInPart[] => {
    const place = placeOfHour.get(at);
    return place === undefined ? [] : [{ at: place, ...partOf(part) }];
  });
  const before = (kept.filled_in ?? []).filter(({ at }) => !index.has(at));
  if (kept.filled_in === undefined && news?.filled_in === undefined) return {};
  return { filled_in: [...before, ...own].sort((a, b) => a.at - b.at) };
}

/** Returns true if the day has any count, observed second or gap for the labeler. */
function isKnown({ applications, removals, observed_seconds, gaps }: DayLabeler): boolean {
  return gaps.length > 0 || observed_seconds.some((one) => one > 0) || [...applications, ...removals].some(isCount);
}

function isCount(count: number | null): boolean {
  return count !== null;
}
