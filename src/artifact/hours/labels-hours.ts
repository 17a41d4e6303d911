import Type from 'typebox';
import { maxGaps } from '../../contract/limits.ts';
import { gapReasons, origins } from '../../contract/vocabulary.ts';
import { isObject } from '../../input/json-budget.ts';
import {
  check,
  count,
  labelerDid,
  measure,
  nullable,
  oneOf,
  own,
  usableInstant,
  uuidText,
} from '../../input/schema.ts';
import { labelersLimits } from '../labelers.ts';
import type { Recogniser } from '../reading.ts';
import { countFault, gapsFault, type HoursFault, hoursFault, hoursLimits, listsFault, longListFault } from './hours.ts';

/**
 * Schema `labels.hours.v1`: `labels-hours.json`, which the label instrument writes with its overview. All times refer to
 * the acceptance clock. The only DIDs are those of labelers (`/labelers/N/labeler_did`). Unlike published schemas, this
 * schema is open: only named fields are read.
 */

const perHour = <S extends Type.TSchema>(item: S) => Type.Array(item, { maxItems: hoursLimits.hours });

const gapList = (maxItems: number) =>
  Type.Array(Type.Object({ start: usableInstant(), end: usableInstant(), reason: oneOf(gapReasons) }), { maxItems });

const SourcesSchema = Type.Object({
  /** Time at which the sources were counted: the last publication of the hour. */
  at: usableInstant(),
  enrolled: count(),
  unstarted: count(),
  probing: count(),
  refused: count(),
  established: count(),
  cursor_order_unverified: count(),
  undated_only: count(),
  provider_rejects: count(),
  unavailable: count(),
});

const HourSchema = Type.Object({
  start: usableInstant(),
  /** True if every minute of the hour is closed. */
  complete: Type.Boolean(),
  /** Seconds in which the instrument was running and accepted labels. */
  observed_seconds: measure(),
  /** Sum of the observed seconds of all labelers, including omitted ones. */
  labeler_seconds: measure(),
  /** Accepted applications of all labelers, including omitted ones; null if no labeler was observed. */
  applications: nullable(count()),
  /** Accepted removals of all labelers, including omitted ones; null if no labeler was observed. */
  removals: nullable(count()),
  /**
   * Rows that repeat known labels after a change of key. The counts exclude these rows. Null if the counts are null.
   */
  repeats: nullable(count()),
  /**
   * Parts of the counts and of the observed time that belong to no rate, because the labels were read late: after an
   * outage they arrive together. The rate of the hour is the counts without these labels, divided by the observed time
   * without this time. Absent in a file of an earlier version, which did not state them apart.
   */
  filled_in: Type.Optional(
    Type.Object({ applications: count(), removals: count(), observed_seconds: measure(), labeler_seconds: measure() }),
  ),
  /**
   * Sum of the labelers' rates: the labels of each labeler divided by its observed time, both without the parts in
   * `filled_in`. A labeler is left out if that time is less than half of the hour. Null if all labelers are left out;
   * absent in a file of an earlier version.
   */
  labels_per_hour: Type.Optional(nullable(measure())),
  /** Number of enrolled sources by state; null if the instrument published nothing in the hour. */
  sources: nullable(SourcesSchema),
});

const LabelerHoursSchema = Type.Object({
  labeler_did: labelerDid(),
  /** Accepted applications by hour, without repeats; null for an hour in which the labeler was not observed. */
  applications: perHour(nullable(count())),
  /** Accepted removals by hour, without repeats; null for an hour in which the labeler was not observed. */
  removals: perHour(nullable(count())),
  /** Observed seconds by hour, excluding the gaps of the labeler and of the instrument. */
  observed_seconds: perHour(measure()),
  /**
   * Parts of the counts and of the observed seconds that belong to no rate, because the labels were read late. `at` is
   * the index of the hour; hours without such a part are omitted. Absent in a file of an earlier version.
   */
  filled_in: Type.Optional(
    perHour(Type.Object({ at: count(), applications: count(), removals: count(), observed_seconds: measure() })),
  ),
  /**
   * Periods during which the labeler was not observed, excluding the gaps of the instrument. Sorted by start; disjoint
   * per reason.
   */
  gaps: gapList(labelersLimits.gaps),
  /** True if gaps were merged with their nearest neighbours because their number exceeded the maximum. */
  gap_overflow: Type.Boolean(),
});

const LabelsHoursSchema = Type.Object({
  schema: Type.Literal('labels.hours.v1'),
  /** Same value as the overview's `generated_at`. */
  generated_at: usableInstant(),
  /** True while the operator holds the label facts; absent means false. */
  hold: Type.Optional(Type.Boolean()),
  origin: Type.Optional(oneOf(origins)),
  /** Same value as the overview's `acquisition.generation_id`. */
  generation_id: uuidText(),
  /** Same value as the overview's `acquisition.started_at`. */
  started_at: usableInstant(),
  /** End of the last closed minute. */
  through: usableInstant(),
  /** At most 72 hours, oldest first. Hours whose rows are no longer retained are omitted. */
  hours: perHour(HourSchema),
  /** Periods during which the instrument itself did not observe; they apply to every labeler. */
  gaps: gapList(maxGaps),
  /** True if gaps were merged with their nearest neighbours because their number exceeded the maximum. */
  gap_overflow: Type.Boolean(),
  /** Number of labelers that did not fit into the file. */
  omitted: count(),
  /**
   * Labelers that are enrolled or have events in these hours, sorted by DID. This field is the last one because it is
   * the longest. Each labeler is checked separately.
   */
  labelers: Type.Array(Type.Unknown(), { maxItems: hoursLimits.labelers }),
});

/** One labeler of the file. */
export type LabelerHours = Type.Static<typeof LabelerHoursSchema>;
/** The hours file of the label instrument. */
export interface LabelsHours extends Omit<Type.Static<typeof LabelsHoursSchema>, 'labelers'> {
  labelers: LabelerHours[];
}
/** One hour of the file: the counts of all labelers together. */
export type LabelsHour = LabelsHours['hours'][number];

const checkSchema = check(LabelsHoursSchema);
const checkLabeler = check(LabelerHoursSchema);
const maxItems = { labelers: hoursLimits.labelers, gaps: maxGaps };

/** Detects the hours file of the label instrument and checks it against its schema. */
export const recogniseLabelsHours: Recogniser<LabelsHours> = (value) => {
  const schema = isObject(value) ? own(value, 'schema') : undefined;
  if (schema !== 'labels.hours.v1') return { kind: 'unknown_schema', why: 'this is not a label hours file' };
  const long = longListFault(value, maxItems);
  if (long) return { kind: 'malformed', schema, ...long };
  const checked = checkSchema(value);
  if (!checked.ok) return { kind: 'malformed', schema, pointer: checked.pointer, why: checked.why };
  const { hours, through, gaps } = checked.value;
  const fault = hoursFault(hours, through, '') ?? totalsFault(hours) ?? gapsFault(gaps, '/gaps');
  if (fault) return { kind: 'malformed', schema, ...fault };
  const labelers = checkedLabelers(checked.value);
  if (!Array.isArray(labelers)) return { kind: 'malformed', schema, ...labelers };
  return { kind: 'recognised', artifact: { ...checked.value, labelers } };
};

function totalsFault(hours: readonly LabelsHour[]): HoursFault | null {
  for (const [at, hour] of hours.entries()) {
    const part = hour.filled_in && partFault(hour.filled_in, hour, `/hours/${at}/filled_in`);
    if (part) return part;
    for (const name of ['applications', 'removals', 'repeats'] as const) {
      const fault = countFault(hour[name], hour.labeler_seconds, `/hours/${at}/${name}`);
      if (fault) return fault;
    }
  }
  return null;
}

/** Numbers of an hour, or their part that belongs to no rate. */
interface HourNumbers {
  readonly applications: number | null;
  readonly removals: number | null;
  readonly observed_seconds: number;
  readonly labeler_seconds?: number;
}

/** Checks that a part is not larger than the whole. Returns the first violation; null if there is none. */
function partFault(part: HourNumbers, whole: HourNumbers, pointer: string): HoursFault | null {
  for (const name of ['applications', 'removals', 'observed_seconds', 'labeler_seconds'] as const) {
    if ((part[name] ?? 0) > (whole[name] ?? 0)) {
      return { pointer: `${pointer}/${name}`, why: 'is larger than the number of the hour' };
    }
  }
  return null;
}

function labelerPartsFault(labeler: LabelerHours, pointer: string): HoursFault | null {
  const { applications, removals, observed_seconds, filled_in = [] } = labeler;
  let next = 0;
  for (const [index, { at, ...part }] of filled_in.entries()) {
    const own = `${pointer}/filled_in/${index}`;
    const seconds = observed_seconds[at];
    if (at < next || seconds === undefined) return { pointer: `${own}/at`, why: 'is not the next hour of the file' };
    next = at + 1;
    const whole = { applications: applications[at] ?? 0, removals: removals[at] ?? 0, observed_seconds: seconds };
    const fault = partFault(part, whole, own);
    if (fault) return fault;
  }
  return null;
}

function checkedLabelers({ hours, labelers }: Type.Static<typeof LabelsHoursSchema>): LabelerHours[] | HoursFault {
  const result: LabelerHours[] = [];
  for (const [at, labeler] of labelers.entries()) {
    const pointer = `/labelers/${at}`;
    const checked = checkLabeler(labeler);
    if (!checked.ok) return { pointer: `${pointer}${checked.pointer}`, why: checked.why };
    const { labeler_did: did, applications, removals, observed_seconds, gaps } = checked.value;
    if (did <= (result.at(-1)?.labeler_did ?? '')) {
      return { pointer: `${pointer}/labeler_did`, why: 'is not in ascending order of the DIDs' };
    }
    const fault =
      listsFault({ counts: { applications, removals }, observed_seconds }, hours.length, pointer) ??
      labelerPartsFault(checked.value, pointer) ??
      gapsFault(gaps, `${pointer}/gaps`);
    if (fault) return fault;
    result.push(checked.value);
  }
  return result;
}
