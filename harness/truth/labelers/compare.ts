import type { LabelerLine } from '../../../src/artifact/labelers.ts';
import { type Micros, parseTimestamp } from '../../../src/contract/timestamp.ts';
import { day, dayName, dayOf, micros } from '../../../src/store/time.ts';
import type { Course } from './course.ts';
import { differ, outside } from './differ.ts';
import type { ExpectedLabeler } from './expected.ts';
import { hourSumProblems, labelerHourProblems } from './hours.ts';
import { type Compared, numberProblems } from './numbers.ts';
import type { LabelersSet } from './read-set.ts';
import { sumProblems } from './sums.ts';

/** Returns all differences between a labelers artifact and the network's record, or an empty list if they agree. */
export function labelersProblems(
  set: LabelersSet,
  expected: ReadonlyMap<string, ExpectedLabeler>,
  course: Course,
): string[] {
  const now = parseTimestamp(set.header.generated_at) ?? micros(0);
  const problems = [...headerProblems(set, course, now), ...sumProblems(set), ...hourSumProblems(set)];
  const compare = (line: LabelerLine, wanted: ExpectedLabeler): string[] =>
    lineProblems({ line, expected: wanted, set, course, now });
  return [...problems, ...allLines(set, expected, compare)];
}

/**
 * Returns the differences in the listed labelers, their states and the sums. Suitable while the counts are still
 * changing.
 */
export function statesProblems(set: LabelersSet, expected: ReadonlyMap<string, ExpectedLabeler>): string[] {
  return [...sumProblems(set), ...hourSumProblems(set), ...allLines(set, expected, stateProblems)];
}

/** Compares each line with the expected labeler, and reports missing and unexpected lines. */
function allLines(
  set: LabelersSet,
  expected: ReadonlyMap<string, ExpectedLabeler>,
  compare: (line: LabelerLine, wanted: ExpectedLabeler) => string[],
): string[] {
  const lines = new Map(set.labelers.map((line) => [line.did, line]));
  const strangers = [...lines.keys()].filter((did) => !expected.has(did));
  const problems = strangers.map((did) => `${did} has a line, although it was never enrolled`);
  for (const [did, wanted] of expected) {
    const line = lines.get(did);
    const found = line === undefined ? ['the labeler has no line'] : compare(line, wanted);
    problems.push(...found.map((problem) => `${did} (${wanted.name}): ${problem}`));
  }
  return problems;
}

function headerProblems({ header }: LabelersSet, course: Course, now: Micros): string[] {
  const start = micros(now - 30 * day);
  const days = Array.from({ length: dayOf(now - 1) - dayOf(start) + 1 }, (_, at) => dayName(dayOf(start) + at));
  return [
    // Compare milliseconds: the start is published with this precision, as in the overview.
    ...differ(
      'the start of the epoch',
      Math.floor(course.startedUs / 1_000),
      (parseTimestamp(header.started_at) ?? 0) / 1_000,
    ),
    ...differ('the window', [start, now], [header.window.start, header.window.end].map(parseTimestamp)),
    ...differ('the days', days, header.days),
    ...differ('the omitted labelers', 0, header.omitted),
    ...outside('counted_since', header.counted_since, { start: course.startedUs, end: course.begun.end }),
  ];
}

function lineProblems(compared: Compared): string[] {
  const { line, expected, set, course, now } = compared;
  const { firstAnswered, lastAnswered, lastRow } = expected;
  return [
    ...stateProblems(line, expected),
    ...differ('handle', expected.handle, line.handle),
    ...differ('handle_withheld', undefined, line.handle_withheld),
    ...outside('state_since', line.state_since, { start: course.startedUs, end: now }),
    ...outside('first_answered', line.first_answered, firstAnswered),
    ...outside('last_answered', line.last_answered, lastAnswered),
    ...outside('last_row', line.last_row, lastRow),
    ...(line.replaces_rows === !expected.replaces ? [`replaces_rows is ${line.replaces_rows}`] : []),
    ...numberProblems(compared),
    ...(set.hours === null ? [] : labelerHourProblems(set.hours, expected, course, now)),
  ];
}

function stateProblems(line: LabelerLine, expected: ExpectedLabeler): string[] {
  return [
    ...differ('enrolled', expected.enrolled, line.enrolled),
    ...differ('state', expected.state, line.state),
    ...(expected.problems.includes(line.problem) ? [] : [`unexpected problem ${line.problem}`]),
    ...differ('found_by', [...expected.foundBy].sort(), [...line.found_by].sort()),
    ...differ('read_by', expected.readBy, line.read_by),
  ];
}
