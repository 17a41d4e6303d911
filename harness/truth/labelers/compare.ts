import { join } from 'node:path';
import type { Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { LabelerLine } from '../../../src/artifact/labelers.ts';
import { maxTopLabelers } from '../../../src/contract/limits.ts';
import { type Micros, parseTimestamp } from '../../../src/contract/timestamp.ts';
import { day, dayName, dayOf, micros } from '../../../src/store/time.ts';
import type { LabelStation } from '../../labels/label-station.ts';
import { until } from '../../process/until.ts';
import type { Moment } from '../cast.ts';
import type { Course } from './course.ts';
import { definitionProblems } from './definitions.ts';
import { differ, outside } from './differ.ts';
import { type ExpectedLabeler, expectedLabelers } from './expected.ts';
import { hourSumProblems, labelerHourProblems } from './hours.ts';
import { type Compared, numberProblems } from './numbers.ts';
import { type LabelersSet, readLabelersSet } from './read-set.ts';

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
function statesProblems(set: LabelersSet, expected: ReadonlyMap<string, ExpectedLabeler>): string[] {
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

/** Maximum number of problems that a proof reports per moment. */
const maxReported = 40;

/**
 * Waits until the labelers artifact agrees with the network's record. Returns the differences that remain after the
 * time limit.
 */
export async function labelersMatch(
  sim: Sim,
  { folder }: Pick<LabelStation, 'folder'>,
  course: Course,
  moment: Moment,
): Promise<string[]> {
  let problems: readonly string[] = ['the artifact was not written'];
  let read: string | null = null;
  const agrees = async (): Promise<boolean> => {
    const set = await readLabelersSet(join(folder, 'artifacts'));
    if (set === null || set.header.generated_at === read) return false;
    read = set.header.generated_at;
    problems = setProblems(set, sim, course, moment);
    return problems.length === 0;
  };
  await until('the labelers artifact agrees with the record', agrees, 60_000).catch(() => undefined);
  const rest = problems.length > maxReported ? [`and ${problems.length - maxReported} more`] : [];
  return [...problems.slice(0, maxReported), ...rest].map((problem) => `labelers ${moment}: ${problem}`);
}

/** Returns all differences between an artifact and the network's record. */
function setProblems(set: LabelersSet, sim: Sim, course: Course, moment: Moment): string[] {
  const now = parseTimestamp(set.header.generated_at) ?? micros(0);
  const expected = expectedLabelers({ sim, course, moment, now, confirms: isConfirmed });
  // While labels are still arriving, only the states and sums can be compared.
  if (moment === 'begun') return statesProblems(set, expected);
  return [...labelersProblems(set, expected, course), ...definitionProblems(set, sim, expected)];
}

/**
 * Returns true if the simulated name server confirms the labeler's handle. The server confirms the handle of each
 * did:plc labeler with an even index.
 */
export function isConfirmed({ did, profile }: Pick<Labeler, 'did' | 'profile'>): boolean {
  return profile.index % 2 === 0 && did.startsWith('did:plc:');
}

/**
 * Returns a `resolveTxt` function that simulates DNS for the labelers' handles. Every name other than a confirmed handle
 * resolves to a DID that no labeler has.
 */
export function resolvesHandles(sim: Sim): (name: string) => Promise<string[][]> {
  return async (name) => {
    const owner = sim.labelers.list.find((labeler) => isConfirmed(labeler) && name === `_atproto.${labeler.handle}`);
    return [[`did=${owner?.did ?? `did:plc:${'z'.repeat(24)}`}`]];
  };
}

/**
 * Compares the ranking of the overview with the counts of the lines. The proofs pause no labeler alone, so that every
 * labeler with events in the last 7 days is ranked. Labelers with equal counts are ranked by DID.
 */
function rankProblems({ labelers, overview }: Pick<LabelersSet, 'labelers' | 'overview'>): string[] {
  const wanted = labelers
    .filter(({ events }) => events.week > 0)
    .map(({ did, events }) => ({ labeler_did: did, count: events.week }))
    .toSorted((a, b) => b.count - a.count || (a.labeler_did < b.labeler_did ? -1 : 1))
    .slice(0, maxTopLabelers);
  return differ('the labelers with the most events', wanted, overview.top_labelers_7d);
}

/** Compares the sums over all labelers with the overview generated at the same time. */
function sumProblems({ header, labelers, overview }: LabelersSet): string[] {
  const problems: string[] = [];
  const same = (what: string, sum: number, whole: number | null | undefined): void => {
    if (sum !== whole) problems.push(`the sum of ${what} is ${sum}, but the overview has ${whole}`);
  };
  const sum = (of: (line: (typeof labelers)[number]) => number): number =>
    labelers.reduce((total, line) => total + of(line), 0);
  const { counts, coverage } = overview;
  same('lines', labelers.length, header.labelers);
  same(
    'the events of the window',
    sum(({ events }) => events.window),
    counts.events_window,
  );
  same(
    'the events of 7 days',
    sum(({ events }) => events.week),
    counts.events_7d,
  );
  same(
    'the events of a day',
    sum(({ events }) => events.day),
    counts.events_24h,
  );
  same(
    'the active labelers of the window',
    sum(({ events }) => Number(events.window > 0)),
    counts.labelers_active_window,
  );
  same(
    'the active labelers of 7 days',
    sum(({ events }) => Number(events.week > 0)),
    counts.labelers_active_7d,
  );
  same(
    'the enrolled labelers',
    sum(({ enrolled }) => Number(enrolled)),
    coverage.sources.enrolled,
  );
  const states: Readonly<Record<string, number | null | undefined>> = coverage.sources;
  for (const state of new Set(labelers.filter(({ enrolled }) => enrolled).map((line) => line.state))) {
    same(
      `the labelers in the state ${state}`,
      sum((line) => Number(line.enrolled && line.state === state)),
      states[state],
    );
  }
  problems.push(...rankProblems({ labelers, overview }));
  for (const { did, days, events } of labelers) {
    const total = days.reduce((all, [applied, removed]) => all + (applied ?? 0) + (removed ?? 0), 0);
    if (total !== events.window) problems.push(`${did}: the days have ${total} events, the window ${events.window}`);
  }
  return problems;
}
