import { type LabelerLine, labelersLimits } from '../../../src/artifact/labelers.ts';
import { type Micros, parseTimestamp } from '../../../src/contract/timestamp.ts';
import { day, dayName, dayOf, dayStart, type Interval, micros, minute, second } from '../../../src/store/time.ts';
import { type Course, settledAfter, shareRange } from './course.ts';
import { dateOf, differ } from './differ.ts';
import type { ExpectedLabeler } from './expected.ts';
import type { LabelersSet } from './read-set.ts';
import { countProblems } from './values.ts';

/** Tolerance for shares, because the clocks are not read at the same time. */
const shareTolerance = 0.001;

/** Maximum size of a gap in a line, in bytes. */
const gapBytes = 110;

/** A labeler's line, and the facts of the run on which its numbers depend. */
export interface Compared {
  readonly line: LabelerLine;
  readonly expected: ExpectedLabeler;
  readonly set: LabelersSet;
  readonly course: Course;
  readonly now: Micros;
}

/** Returns the differences between the numbers in a line and the network's record. */
export function numberProblems(compared: Compared): string[] {
  return [
    ...eventProblems(compared),
    ...dayProblems(compared),
    ...gapProblems(compared),
    ...signatureProblems(compared),
    ...valueProblems(compared),
    ...delayProblems(compared),
  ];
}

function eventProblems({ line, expected: { rows, repeats }, now }: Compared): string[] {
  const since = (from: number): number => rows.filter(({ acceptedUs }) => acceptedUs >= from).length;
  const events = { window: rows.length, week: since(now - 7 * day), day: since(now - day) };
  return [...differ('events', events, line.events), ...differ('repeats', repeats, line.repeats)];
}

/** Compares the counts and the observed share of each day. */
function dayProblems({ line, expected, set: { header }, now }: Compared): string[] {
  const start = micros(now - 30 * day);
  if (line.days.length !== header.days.length) return [`the line has ${line.days.length} days`];
  return line.days.flatMap(([applied, removed, share], index) => {
    const number = dayOf(start) + index;
    const part: Interval = {
      start: micros(Math.max(start, dayStart(number))),
      end: micros(Math.min(now, dayStart(number + 1))),
    };
    const { min, max } = shareRange(expected.unread, part);
    const own = expected.rows.filter(({ acceptedUs }) => dayOf(acceptedUs) === number);
    const removals = own.filter((row) => row.removed).length;
    const name = header.days[index] ?? '';
    const problems: string[] = [];
    if (share < min - shareTolerance || share > max + shareTolerance || share > 1) {
      problems.push(`the read share of ${name} is ${share}, expected ${min} to ${max}`);
    }
    // Expect null, not zero, for a day on which the labeler was not read.
    const isKnown = share > 0 || own.length > 0;
    const wanted = isKnown ? [own.length - removals, removals] : [null, null];
    problems.push(...differ(`the counts of ${name}`, wanted, [applied, removed]));
    return problems;
  });
}

/**
 * Compares the reasons of the gaps after the first response, and checks that the gaps account for the resets. The time
 * before the first response is always unobserved.
 */
function gapProblems({ line, expected, course }: Compared): string[] {
  const problems: string[] = [];
  const first = parseTimestamp(line.first_answered);
  const gaps = line.gaps.map(({ start, end, reason }) => ({
    reason,
    start: parseTimestamp(start) ?? micros(0),
    end: parseTimestamp(end) ?? micros(0),
  }));
  for (const [at, { start, end }] of gaps.entries()) {
    if (start >= end) problems.push(`gap ${at} does not end after its start`);
    if (start < (gaps[at - 1]?.start ?? start)) problems.push(`gap ${at} is out of order`);
  }
  const paused = course.paused;
  const isPause = (gap: Interval): boolean =>
    paused !== null && gap.start < paused.end + 10 * second && gap.end > paused.start - 10 * second;
  // Every reset must be listed, even if gaps are merged.
  const isListed = (at: number): boolean => gaps.some(({ start, end }) => start - second <= at && at <= end + second);
  for (const at of expected.resets) if (!isListed(at)) problems.push(`the reset at ${dateOf(at)} is outside every gap`);
  if (expected.gaps.length > labelersLimits.gaps) return [...problems, ...overflowProblems(line, gaps)];
  if (line.gap_overflow) problems.push('gap_overflow is set, but the line can list all gaps');
  if (expected.firstAnswered === null) return problems;
  const own = gaps.filter(
    (gap) =>
      !(gap.reason === 'ingest_paused' && isPause(gap)) &&
      !(first !== null && gap.end <= first + minute && gap.reason !== 'cursor_reset'),
  );
  const reasons = own.map(({ reason }) => reason);
  const wanted = expected.gaps.filter((reason) => reason !== 'not_observed' && !isEarly(expected, reason));
  // Accept more resets of a labeler that replaces rows: the removal of the last row that was read looks like a reset.
  const isSame = expected.replaces
    ? wanted.every((reason) => reasons.includes(reason)) &&
      reasons.every((reason) => reason === 'cursor_reset' || wanted.includes(reason))
    : reasons.join() === wanted.join();
  const isCovered = expected.mayHaveNoGap && reasons.length === 0;
  if (!isSame && !isCovered) problems.push(`the gaps are [${reasons.join()}], not [${wanted.join()}]`);
  return problems;
}

/** Checks a line that cannot list all gaps. The closest gaps must be merged, even if their reasons differ. */
function overflowProblems(
  line: LabelerLine,
  gaps: readonly (Interval & { readonly reason: LabelerLine['gaps'][number]['reason'] })[],
): string[] {
  const problems = line.gap_overflow ? [] : ['gap_overflow is not set, but the line cannot list all gaps'];
  // A line may list fewer gaps than the maximum only if it has no space for two more gaps.
  const isFull = JSON.stringify(line).length + 2 * gapBytes > labelersLimits.lineBytes;
  if (gaps.length > labelersLimits.gaps || (gaps.length < labelersLimits.gaps && !isFull))
    problems.push(`${gaps.length} gaps are listed, expected ${labelersLimits.gaps}`);
  for (const [at, { start }] of gaps.entries()) {
    if (start < (gaps[at - 1]?.end ?? start)) problems.push(`gap ${at} overlaps the previous gap`);
  }
  const possible: readonly string[] = ['cursor_reset', 'ingest_paused', 'not_observed', 'unknown'];
  for (const { reason } of gaps)
    if (!possible.includes(reason)) problems.push(`a gap has the unexpected reason ${reason}`);
  return problems;
}

/** Returns true if a gap with this reason ends at the first response. */
function isEarly({ name }: ExpectedLabeler, reason: string): boolean {
  return name.endsWith('no_query') && reason === 'source_unavailable';
}

function signatureProblems({ line: { signatures }, expected }: Compared): string[] {
  if (signatures === null) return ['the signatures are missing'];
  const { verified, verified_earlier_key: earlier, invalid, unsigned, unverified } = signatures;
  // A label of a did:web with a wrong signature is unverified if it is newer than the last refresh of the document.
  const notProven = expected.did.startsWith('did:web:') ? unverified : 0;
  const problems = differ(
    'signatures',
    { ...expected.signatures, unverified: 0 },
    { verified: verified + earlier, invalid: invalid + notProven, unsigned, unverified: unverified - notProven },
  );
  return notProven > 0 && invalid === 0 ? [...problems, 'no wrong signature is invalid'] : problems;
}

function valueProblems({ line, expected, course, now }: Compared): string[] {
  const { values } = expected;
  // Accept missing definitions of a labeler that never responded.
  if (
    expected.firstAnswered === null &&
    line.values.length === 0 &&
    line.undeclared === 'fewer_than_5' &&
    values.undeclared === 0
  ) {
    const events = [...values.declared.values()].reduce((sum, count) => sum + count, 0);
    if (events === 0) return [];
  }
  const listed = new Map(line.values.map((value) => [value.value, value]));
  const problems = [
    ...differ('values_omitted', values.omitted, line.values_omitted),
    ...differ('the values', [...values.declared.keys()].sort(), [...listed.keys()].sort()),
    ...countProblems([
      ...[...values.declared].map(([name, events]) => ({ name, events, published: listed.get(name)?.events ?? null })),
      { name: 'all undeclared values', events: values.undeclared, published: line.undeclared },
    ]),
  ];
  for (const { value, first_defined: first, last_defined: last } of line.values) {
    const wanted = values.definitions.get(value) ?? { first: null, last: null };
    if (wanted.first !== null) problems.push(...differ(`the first day of ${value}`, wanted.first, first));
    else if (first < dayName(dayOf(course.startedUs)) || first > dayName(dayOf(now)))
      problems.push(`the first day of ${value} is ${first}, outside the observation`);
    problems.push(...differ(`the last day of ${value}`, wanted.last, last));
  }
  return problems;
}

/**
 * Checks that the delays are plausible. A row was accepted at some time between its emission and the time at which all
 * rows were stored.
 */
function delayProblems({ line: { delay_ms: delay }, expected, course, now }: Compared): string[] {
  if (delay === null) return [];
  const { p50, p90, labels } = delay;
  const longest = Math.max(
    0,
    ...expected.rows.map(({ acceptedUs, authoredUs }) => settledAfter(course, acceptedUs, now) - authoredUs),
  );
  const problems: string[] = [];
  if (labels < 1 || labels > expected.rows.length + expected.repeats)
    problems.push(`the delays cover ${labels} labels, expected 1 to ${expected.rows.length + expected.repeats}`);
  // Allow twice the longest delay: a percentile is published as the upper bound of its delay range. Except for the
  // first bound (10 ms), a bound is less than twice the delay.
  if (p50 > p90 || p90 > (2 * longest) / 1_000 + 10)
    problems.push(`the delays are implausible: p50 ${p50} ms, p90 ${p90} ms`);
  return problems;
}
