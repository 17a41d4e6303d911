import Type from 'typebox';
import { maxGaps } from '../../contract/limits.ts';
import { gapReasons, origins } from '../../contract/vocabulary.ts';
import { isObject } from '../../input/json-object.ts';
import { maxLabelerGaps } from '../labelers.ts';
import type { Recogniser } from '../reading.ts';
import { check, count, labelerDid, measure, nullable, oneOf, own, usableInstant, uuidText } from '../schema.ts';
import { countFault, gapsFault, type HoursFault, hoursFault, listsFault, longListFault, maxHours } from './hours.ts';

/**
 * Schema `labels.hours.v1`: `labels-hours.json`, which the label instrument writes with its overview. All times refer to
 * the acceptance clock. The only DIDs are those of labelers (`/labelers/N/labeler_did`). Unlike published schemas, this
 * schema is open: only named fields are read.
 */

/** Maximum number of labelers in the file. */
export const maxHourLabelers = 5_000;

const perHour = <S extends Type.TSchema>(item: S) => Type.Array(item, { maxItems: maxHours });

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
   * Periods during which the labeler was not observed, excluding the gaps of the instrument. Sorted by start; disjoint
   * per reason.
   */
  gaps: gapList(maxLabelerGaps),
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
  labelers: Type.Array(Type.Unknown(), { maxItems: maxHourLabelers }),
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
const maxItems = { labelers: maxHourLabelers, gaps: maxGaps };

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
    for (const name of ['applications', 'removals', 'repeats'] as const) {
      const fault = countFault(hour[name], hour.labeler_seconds, `/hours/${at}/${name}`);
      if (fault) return fault;
    }
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
      gapsFault(gaps, `${pointer}/gaps`);
    if (fault) return fault;
    result.push(checked.value);
  }
  return result;
}
