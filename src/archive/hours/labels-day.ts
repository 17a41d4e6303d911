import Type from 'typebox';
import { type LabelerHours, type LabelsHours, maxHourLabelers } from '../../artifact/hours/labels-hours.ts';
import { maxLabelerGaps } from '../../artifact/labelers.ts';
import { check, count, labelerDid, measure, nullable, oneOf, usableInstant, uuidText } from '../../artifact/schema.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { maxGaps } from '../../contract/limits.ts';
import { gapReasons } from '../../contract/vocabulary.ts';
import { inputLimits } from '../../input/limits.ts';
import { parsedObject } from '../days/json.ts';
import { dayHours, dayList, type HoursFailure, hoursFailures, packed, unpacked } from './hour-lists.ts';

/** Name of the archive file with the hourly labels of a day, and of the instrument's hours file. */
export const labelsHoursFile = 'labels-hours.json';
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
    gaps: gaps(maxLabelerGaps),
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
    labelers: Type.Array(LabelerSchema, { maxItems: 2 * maxHourLabelers }),
    omitted: count(),
  },
  closed,
);
const checkSchema = check(Schema);

/** Label counts of all labelers in one hour, with the states of the sources. */
export type DayHour = Type.Static<typeof HourSchema>;
/** Part of one hour's labels and observed time that belongs to no rate. */
export type FilledInPart = NonNullable<LabelerHours['filled_in']>[number];
/** A period during which the whole instrument or one labeler was not observed. */
export type LabelGap = LabelsHours['gaps'][number];

/**
 * Hourly label counts of one labeler. In an hour in which the labeler was not observed, the counts are null and the
 * observed time is 0.
 */
export interface DayLabeler {
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

/** Returns the labels of a day without data. */
export function unknownLabels(day: string): LabelsDay {
  const [failures, hours] = [dayList(null), dayList(null)];
  return { day, generated_at: null, failures, hours, gaps: [], gap_overflow: false, labelers: [], omitted: 0 };
}

/** Returns the bytes of the labels of a day. */
export function formatLabelsDay(labels: LabelsDay): Buffer {
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

/** Parses the labels of a day; null unless the bytes are exactly those that `formatLabelsDay` returns. */
export function parseLabelsDay(bytes: Uint8Array, day: string): LabelsDay | null {
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
