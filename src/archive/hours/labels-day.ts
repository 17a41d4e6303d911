import Type from 'typebox';
import { hoursLimits } from '../../artifact/hours/hours.ts';
import type { LabelerHours, LabelsHour, LabelsHours } from '../../artifact/hours/labels-hours.ts';
import { labelersLimits } from '../../artifact/labelers.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { maxGaps } from '../../contract/limits.ts';
import { gapReasons } from '../../contract/vocabulary.ts';
import { inputLimits } from '../../input/limits.ts';
import { check, count, labelerDid, measure, nullable, oneOf, usableInstant, uuidText } from '../../input/schema.ts';
import { parsedObject } from '../days/records.ts';
import {
  type DayForm,
  dayHours,
  dayList,
  type HoursFailure,
  hoursFailures,
  notedFailures,
  packed,
  Replacement,
  throughOf,
  unpacked,
} from './hour-lists.ts';

/** Schema of the archive file. */
const labelsDaySchema = 'almanac.archive.labels-hours/v1';

/** States of an enrolled source. The file contains the number of sources in each state, for each hour. */
export const sourceStates = [
  'unstarted',
  'probing',
  'refused',
  'established',
  'cursor_order_unverified',
  'undated_only',
  'provider_rejects',
  'unavailable',
] as const;

const closed = { additionalProperties: false };
const list = <S extends Type.TSchema>(item: S) =>
  Type.Union([item, Type.Array(item, { minItems: dayHours, maxItems: dayHours })]);
const gaps = (maxItems: number) =>
  Type.Array(
    Type.Object({ start: usableInstant(), end: usableInstant(), reason: oneOf(gapReasons) }, closed),
    // Allow three times the gaps of one file: gaps of older files may remain before and after the gaps of the newest
    // file.
    { maxItems: 3 * maxItems },
  );
const states = Object.fromEntries(sourceStates.map((state) => [state, count()])) as Record<
  (typeof sourceStates)[number],
  ReturnType<typeof count>
>;

const HourSchema = Type.Object(
  {
    /** Generation of the label store that reported the hour. */
    generation_id: uuidText(),
    /** Time up to which the hour is counted. */
    through: usableInstant(),
    observed_seconds: measure(),
    labeler_seconds: measure(),
    applications: nullable(count()),
    removals: nullable(count()),
    repeats: nullable(count()),
    /** Parts of the counts and of the time that belong to no rate; absent if the instrument did not state them apart. */
    filled_in: Type.Optional(
      Type.Object(
        { applications: count(), removals: count(), observed_seconds: measure(), labeler_seconds: measure() },
        closed,
      ),
    ),
    /** Sum of the labelers' rates, in labels per hour; absent if the instrument did not state it. */
    labels_per_hour: Type.Optional(nullable(measure())),
    sources: nullable(Type.Object({ at: usableInstant(), enrolled: count(), ...states }, closed)),
  },
  closed,
);
const LabelerSchema = Type.Object(
  {
    labeler_did: labelerDid(),
    applications: list(nullable(count())),
    removals: list(nullable(count())),
    observed_seconds: list(measure()),
    filled_in: Type.Optional(
      Type.Array(
        Type.Object({ at: count(), applications: count(), removals: count(), observed_seconds: measure() }, closed),
        { maxItems: dayHours },
      ),
    ),
    gaps: gaps(labelersLimits.gaps),
    gap_overflow: Type.Boolean(),
  },
  closed,
);
const Schema = Type.Object(
  {
    schema: Type.Literal(labelsDaySchema),
    day: Type.String(),
    generated_at: nullable(usableInstant()),
    failures: list(nullable(oneOf(hoursFailures))),
    hours: Type.Array(nullable(HourSchema), { minItems: dayHours, maxItems: dayHours }),
    gaps: gaps(maxGaps),
    gap_overflow: Type.Boolean(),
    labelers: Type.Array(LabelerSchema, { maxItems: 2 * hoursLimits.labelers }),
    omitted: count(),
  },
  closed,
);
const checkSchema = check(Schema);

/** Label counts of all labelers in one hour, with the states of the sources. */
type DayHour = Type.Static<typeof HourSchema>;
/** Part of one hour's labels and observed time that belongs to no rate. */
type FilledInPart = NonNullable<LabelerHours['filled_in']>[number];
/** A period during which the whole instrument or one labeler was not observed. */
type LabelGap = LabelsHours['gaps'][number];

/**
 * Hourly label counts of one labeler. In an hour in which the labeler was not observed, the counts are null and the
 * observed time is 0.
 */
interface DayLabeler {
  readonly labeler_did: string;
  readonly applications: (number | null)[];
  readonly removals: (number | null)[];
  readonly observed_seconds: number[];
  /**
   * Parts of hours that belong to no rate, because the labels were read late; `at` is the index of the hour within the
   * day. Absent if the instrument did not state them apart.
   */
  readonly filled_in?: readonly FilledInPart[];
  readonly gaps: readonly LabelGap[];
  readonly gap_overflow: boolean;
}

/** Hourly label counts of one day, as the instrument last reported them. */
export interface LabelsDay {
  readonly day: string;
  /** `generated_at` of the last hours file that changed the day; null if no file has changed it. */
  readonly generated_at: string | null;
  /** Reason for each hour without counts; null if the hour has counts or no reason is known. */
  readonly failures: (HoursFailure | null)[];
  /** Entry of each hour; null for an hour without data. */
  readonly hours: (DayHour | null)[];
  readonly gaps: readonly LabelGap[];
  readonly gap_overflow: boolean;
  /** Labelers of the day, sorted by DID. */
  readonly labelers: readonly DayLabeler[];
  /** Number of labelers that the instrument omitted because its file was full. */
  readonly omitted: number;
}

/** Operations on the archived label hours. */
export const labelsForm: DayForm<LabelsDay, LabelsHours> = {
  name: 'labels-hours.json',
  unknown: unknownLabels,
  parse: parseLabelsDay,
  format: formatLabelsDay,
  merge: mergeLabels,
  note: noteLabelsFailure,
};

function unknownLabels(day: string): LabelsDay {
  const [failures, hours] = [dayList(null), dayList(null)];
  return { day, generated_at: null, failures, hours, gaps: [], gap_overflow: false, labelers: [], omitted: 0 };
}

function formatLabelsDay(labels: LabelsDay): Buffer {
  const written = {
    schema: labelsDaySchema,
    ...labels,
    failures: packed(labels.failures),
    labelers: labels.labelers.map((one) => ({
      ...one,
      applications: packed(one.applications),
      removals: packed(one.removals),
      observed_seconds: packed(one.observed_seconds),
    })),
  };
  return Buffer.from(`${canonicalJson(written)}\n`);
}

function parseLabelsDay(bytes: Uint8Array, day: string): LabelsDay | null {
  const checked = checkSchema(parsedObject(bytes, inputLimits.hoursFile));
  if (!checked.ok || checked.value.day !== day) return null;
  const { schema: _, ...written } = checked.value;
  const failures = unpacked<HoursFailure | null>(written.failures);
  const labelers = written.labelers.map((one): DayLabeler | null => {
    const applications = unpacked(one.applications);
    const removals = unpacked(one.removals);
    const seconds = unpacked(one.observed_seconds);
    return applications && removals && seconds ? { ...one, applications, removals, observed_seconds: seconds } : null;
  });
  const known = labelers.filter((one) => one !== null);
  if (!failures || known.length !== labelers.length) return null;
  const parsed = { ...written, failures, labelers: known };
  return formatLabelsDay(parsed).equals(bytes) ? parsed : null;
}

/**
 * Merges the hours of a newer file into the labels of a day; returns the same object if the file is not newer or has
 * no hour to replace. An hour from another generation of the label store replaces a known hour only if its observed
 * time is longer.
 */
function mergeLabels(kept: LabelsDay, file: LabelsHours): LabelsDay {
  if (kept.generated_at !== null && Date.parse(file.generated_at) <= Date.parse(kept.generated_at)) return kept;
  const replaced = Replacement.of(kept.day, file.hours, (hour, place) => {
    const known = kept.hours[place];
    const isSameEpoch = !known || known.generation_id === file.generation_id;
    return isSameEpoch || hour.observed_seconds > known.observed_seconds;
  });
  if (replaced.isEmpty()) return kept;
  const news = file.hours.map((hour) => dayHour(hour, file));
  const hours = replaced.entries(kept.hours, news, null);
  return {
    ...kept,
    generated_at: file.generated_at,
    failures: kept.failures.map((failure, place) => (hours[place] ? null : failure)),
    hours,
    gaps: replaced.gaps(kept.gaps, file.gaps.map(gapOf)),
    gap_overflow: kept.gap_overflow || file.gap_overflow,
    labelers: mergedLabelers(kept, file, replaced),
    omitted: Math.max(kept.omitted, file.omitted),
  };
}

function noteLabelsFailure(kept: LabelsDay, reason: HoursFailure, now: number): LabelsDay {
  const isKnown = (place: number): boolean => kept.hours[place] !== null;
  return { ...kept, failures: notedFailures(kept.day, kept.failures, { reason, isKnown, now }) };
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

function mergedLabelers(kept: LabelsDay, file: LabelsHours, replaced: Replacement): DayLabeler[] {
  const news = new Map(file.labelers.map((one) => [one.labeler_did, one]));
  const before = new Map(kept.labelers.map((one) => [one.labeler_did, one]));
  const dids = [...new Set([...before.keys(), ...news.keys()])].sort();
  return dids
    .map((did) => mergedLabeler(before.get(did) ?? unknownLabeler(did), news.get(did), replaced))
    .filter(isKnown);
}

function unknownLabeler(did: string): DayLabeler {
  const [applications, removals] = [dayList<number | null>(null), dayList<number | null>(null)];
  return { labeler_did: did, applications, removals, observed_seconds: dayList(0), gaps: [], gap_overflow: false };
}

function mergedLabeler(kept: DayLabeler, news: LabelerHours | undefined, replaced: Replacement): DayLabeler {
  return {
    labeler_did: kept.labeler_did,
    applications: replaced.entries(kept.applications, news?.applications, null),
    removals: replaced.entries(kept.removals, news?.removals, null),
    observed_seconds: replaced.entries(kept.observed_seconds, news?.observed_seconds, 0),
    ...replacedParts(kept, news, replaced),
    gaps: replaced.gaps(kept.gaps, (news?.gaps ?? []).map(gapOf)),
    gap_overflow: kept.gap_overflow || (news?.gap_overflow ?? false),
  };
}

/** Returns the parts that belong to no rate, of which those in the replaced hours are from the newer file. */
function replacedParts(
  kept: DayLabeler,
  news: LabelerHours | undefined,
  replaced: Replacement,
): Pick<DayLabeler, 'filled_in'> {
  const own = (news?.filled_in ?? []).flatMap(({ at, ...part }): FilledInPart[] => {
    const place = replaced.placeOf(at);
    return place === undefined ? [] : [{ at: place, ...partOf(part) }];
  });
  const before = (kept.filled_in ?? []).filter(({ at }) => !replaced.has(at));
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
