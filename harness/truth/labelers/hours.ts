import type { LabelerHours, LabelsHours } from '../../../src/artifact/hours/labels-hours.ts';
import { type Micros, parseTimestamp } from '../../../src/contract/timestamp.ts';
import { hour, type Interval, micros } from '../../../src/store/time.ts';
import { type Course, settledAfter, shareRange } from './course.ts';
import { differ } from './differ.ts';
import type { ExpectedLabeler } from './expected.ts';
import type { LabelersSet } from './read-set.ts';
import type { AcceptedRow } from './rows.ts';

/** Tolerance in seconds, because the clocks are not read at the same time. */
const toleranceSeconds = 4;

/**
 * Returns the differences between the hours file and the overview generated at the same time, or an empty list if there
 * is no hours file.
 */
export function hourSumProblems({ hours: file, overview, header }: LabelersSet): string[] {
  if (file === null) return [];
  const problems = [
    ...differ('the generation id of the hours file', header.generation_id, file.generation_id),
    ...differ('the number of labelers that the hours file omits', 0, file.omitted),
  ];
  for (const [at, { start, applications, removals, labeler_seconds: seconds }] of file.hours.entries()) {
    const sum = (of: (labeler: LabelerHours) => number | null | undefined): number =>
      file.labelers.reduce((total, labeler) => total + (of(labeler) ?? 0), 0);
    problems.push(
      ...differ(
        `the applications of ${start}`,
        applications ?? 0,
        sum((one) => one.applications[at]),
      ),
      ...differ(
        `the removals of ${start}`,
        removals ?? 0,
        sum((one) => one.removals[at]),
      ),
      ...differ(
        `the observed seconds of ${start}`,
        seconds.toFixed(3),
        sum((one) => one.observed_seconds[at]).toFixed(3),
      ),
    );
  }
  const { sources } = file.hours.at(-1) ?? { sources: null };
  if (sources?.at === file.generated_at) {
    const { at: _, ...states } = sources;
    const counts: Readonly<Record<string, unknown>> = overview.coverage.sources;
    const wanted = Object.fromEntries(Object.keys(states).map((name) => [name, counts[name]]));
    problems.push(...differ('the sources of the last hour', wanted, states));
  }
  return problems;
}

/**
 * Compares the hours of a labeler with the network's record. A label was accepted at some time between its emission and
 * the time at which all labels were stored. A label with both times in the same hour must be counted in that hour.
 */
export function labelerHourProblems(
  file: LabelsHours,
  expected: ExpectedLabeler,
  course: Course,
  now: Micros,
): string[] {
  const labeler = file.labelers.find(({ labeler_did: did }) => did === expected.did);
  if (labeler === undefined) return ['the hours are missing'];
  const through = parseTimestamp(file.through) ?? now;
  const problems = file.hours.flatMap(({ start }, at) => {
    const from = parseTimestamp(start) ?? micros(0);
    const part = { start: from, end: micros(Math.min(from + hour, through)) };
    return [
      ...countProblems(
        `applications of ${start}`,
        labeler.applications[at],
        rowsIn(expected, false, part, course, now),
      ),
      ...countProblems(`removals of ${start}`, labeler.removals[at], rowsIn(expected, true, part, course, now)),
      ...timeProblems(`observed seconds of ${start}`, labeler.observed_seconds[at] ?? 0, expected, part),
    ];
  });
  const whole = { start: micros(0), end: through };
  const total = (counts: readonly (number | null)[]): number =>
    counts.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  return [
    ...problems,
    ...countProblems('all applications', total(labeler.applications), rowsIn(expected, false, whole, course, now)),
    ...countProblems('all removals', total(labeler.removals), rowsIn(expected, true, whole, course, now)),
  ];
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Returns the minimum and maximum number of rows that may have been accepted within an interval. */
function rowsIn({ rows }: ExpectedLabeler, removed: boolean, part: Interval, course: Course, now: Micros): Range {
  const own = rows.filter((row) => row.removed === removed);
  const latest = ({ acceptedUs }: AcceptedRow): number => settledAfter(course, acceptedUs, now);
  return {
    min: own.filter((row) => row.acceptedUs >= part.start && latest(row) < part.end).length,
    max: own.filter((row) => row.acceptedUs < part.end && latest(row) >= part.start).length,
  };
}

function countProblems(what: string, count: number | null | undefined, { min, max }: Range): string[] {
  const is = count ?? 0;
  return is >= min && is <= max ? [] : [`${is} ${what}, expected ${min} to ${max}`];
}

function timeProblems(what: string, seconds: number, { unread }: ExpectedLabeler, part: Interval): string[] {
  const length = (part.end - part.start) / 1_000_000;
  const { min, max } = shareRange(unread, part);
  const isPossible = seconds >= min * length - toleranceSeconds && seconds <= max * length + toleranceSeconds;
  return isPossible ? [] : [`${seconds} ${what}, expected ${min * length} to ${max * length}`];
}
