import { signatureVerdicts } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { identityOf } from '../../label.ts';
import type { DayReport } from '../../port.ts';
import { dayName, dayOf, minute } from '../../time.ts';
import { storeError } from '../base/connection.ts';
import { decodeRow, type NameOf, type StoredRow, type SubjectKey } from '../base/row.ts';
import { filterBlocks } from '../day/account-rows.ts';
import type { DayReader } from '../day/day-reader.ts';
import { countedRow, type DayCounters, type Events, emptyCounters } from '../labeler/stored-counters.ts';
import { metaNames } from '../schema/day-schema.ts';

/** Maximum number of problems listed per day. A single damaged page can cause thousands. */
const maxProblems = 50;

type Sums = Map<string, [applied: number, removed: number]>;

/**
 * Recomputes the data that is derived from a day's rows, and reports up to `maxProblems` differences from the file.
 * If an error of the file ends the check, the report ends with that error, states 0 rows, and `isComplete` is false.
 * Throws errors that a retry may resolve.
 */
export function verifyDay(day: DayReader, generation: string): { report: DayReport; isComplete: boolean } {
  const problems: string[] = [];
  const report = (problem: string): void => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  const sealed = day.form === 'sealed';
  const reportWith = (rows: number): DayReport => {
    return { day: dayName(day.day), sealed, unverified: sealed && !day.isChecked, rows, problems };
  };
  try {
    const rows = day.atOnce(() => {
      for (const problem of day.fileProblems()) report(`file: ${problem}`);
      if (day.generation() !== generation) report('the file belongs to another generation of the store');
      for (const { problem } of day.checksumProblems()) report(problem);
      return verifyRows(day, report);
    });
    return { report: reportWith(rows), isComplete: true };
  } catch (thrown) {
    const error = storeError(thrown, day.path);
    if (!(error instanceof StoreError) || error.retry) throw error;
    // The error explains why the report is incomplete, so it replaces the last problem of a full list.
    problems.splice(maxProblems - 1, 1, error.message);
    return { report: reportWith(0), isComplete: false };
  }
}

/** Returns the report of a day whose file cannot be opened. */
export function unreadableDay(day: number, sealed: boolean, { message }: StoreError): DayReport {
  return { day: dayName(day), sealed, unverified: false, rows: 0, problems: [message] };
}

function verifyRows(day: DayReader, report: (problem: string) => void): number {
  const minutes: Sums = new Map();
  const hours: Sums = new Map();
  const identities = new Set<string>();
  let rows = 0;
  let last = 0;
  const labelers = new LabelerCounterCheck(day.labelerCounters.from());
  let before: { subject: SubjectKey; id: number } | null = null;
  for (const [row, identity] of day.rows()) {
    const [id, subject, source] = row;
    rows += 1;
    labelers.add(row);
    last = Math.max(last, id);
    if (dayOf(id) !== day.day) report(`row ${id} belongs to another day`);
    if (before && !follows(day, before, { subject, id })) report(`row ${id} is out of order`);
    before = { subject, id };
    const { label } = decodeRow(row, day.nameOf);
    if (identity) {
      const text = identity.toString('latin1');
      if (identities.has(text)) report(`row ${id} is stored twice`);
      identities.add(text);
      if (!identityOf(label).equals(identity)) report(`the identity of row ${id} does not match its label`);
    }
    const removed = label.neg === true ? 1 : 0;
    add(minutes, `${Math.floor(id / minute)} ${source}`, removed);
    add(hours, `${Math.floor(id / (60 * minute))} ${source}`, removed);
  }
  compareCounters(day, 'minute', minutes, report);
  compareCounters(day, 'hour', hours, report);
  if (day.form === 'sealed') compareStamps(day, minutes, report);
  for (const problem of day.hotCounts.problems()) report(problem);
  reportAll(() => labelers.problems(day.labelerCounters.all(), day.nameOf), report);
  if (day.form === 'sealed') {
    compareFilter(day, report);
    if (day.meta(metaNames.rows) !== rows)
      report(`the file states ${day.meta(metaNames.rows)} rows, but contains ${rows}`);
  }
  const stated = day.meta(metaNames.last);
  // If the last row was purged, the file still states its stamp, because that stamp must not be assigned again.
  const matches = day.meta(metaNames.purged) === null ? stated === last : (stated ?? 0) >= last;
  if (rows > 0 && !matches) report(`the file states the last stamp ${stated}, but its last row is ${last}`);
  return rows;
}

/** Reports every problem, and the error if reading fails. */
function reportAll(problems: () => Generator<string>, report: (problem: string) => void): void {
  try {
    for (const problem of problems()) report(problem);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report(error.message);
  }
}

function follows(day: DayReader, a: { subject: SubjectKey; id: number }, b: { subject: SubjectKey; id: number }) {
  if (day.form === 'open' || a.subject === b.subject) return a.id < b.id;
  if (typeof a.subject === 'string' || typeof b.subject === 'string') return true;
  const order = a.subject.compare(b.subject);
  return order < 0 || (order === 0 && a.id < b.id);
}

function add(sums: Sums, key: string, removed: number): void {
  const [a, r] = sums.get(key) ?? [0, 0];
  sums.set(key, [a + 1 - removed, r + removed]);
}

function compareCounters(
  day: DayReader,
  bucket: 'minute' | 'hour',
  expected: Sums,
  report: (problem: string) => void,
): void {
  const left = new Map(expected);
  for (const [at, source, applied, removed] of day.allCounters(bucket)) {
    const key = `${at} ${source}`;
    const [a, r] = left.get(key) ?? [0, 0];
    left.delete(key);
    if (a !== applied || r !== removed) {
      report(
        `${bucket} ${at} of ${day.nameOf('source', source)}: the counter has ${applied} applications and ${removed} removals, but the rows have ${a} and ${r}`,
      );
    }
  }
  for (const [key, [a, r]] of left)
    report(`${bucket} ${key}: no counter exists, but the rows have ${a} applications and ${r} removals`);
}

/** Checks that the stored subject filter of a sealed day equals the filter computed from its subjects. */
function compareFilter(day: DayReader, report: (problem: string) => void): void {
  if (!day.keepsFilter) return;
  const kept = day.filterBlocks();
  let subjects = 0;
  for (const _ of day.subjects()) subjects += 1;
  const expected = filterBlocks(day.subjects(), subjects, day.isChecked);
  if (kept.length !== expected.length || !expected.every((block, i) => kept[i]?.equals(block))) {
    report('the subject filter does not match the rows');
  }
}

/** Checks that the packed stamps of a sealed day match its rows. */
function compareStamps(day: DayReader, minutes: Sums, report: (problem: string) => void): void {
  const bySource = new Map<string, [number, number]>();
  const expected = new Map<string, [number, number]>();
  for (const [key, [a, r]] of minutes) {
    const [at, source] = key.split(' ').map(Number);
    const name = `${at} ${day.nameOf('source', source ?? 0)}`;
    expected.set(name, [a, r]);
  }
  for (const at of new Set([...minutes.keys()].map((key) => Number(key.split(' ')[0])))) {
    try {
      day.edge(at * minute, (at + 1) * minute, (labeler, bucket, applied, removed) => {
        bySource.set(`${bucket} ${labeler}`, [applied, removed]);
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      report(`minute ${at}: ${error.message}`);
    }
  }
  for (const [name, [a, r]] of expected) {
    const [applied, removed] = bySource.get(name) ?? [0, 0];
    if (a !== applied || r !== removed)
      report(
        `minute ${name}: the packed stamps have ${applied} applications and ${removed} removals, but the rows have ${a} and ${r}`,
      );
  }
}

/** Compares the stored counters of a day's labelers with the rows of the day. */
class LabelerCounterCheck {
  readonly #from: number;
  readonly #expected = new Map<number, DayCounters>();

  /** `from` is the stamp from which the stored counters include rows. */
  constructor(from: number) {
    this.#from = from;
  }

  /** Adds a row of the day. Rows may be added in any order. */
  add(stored: StoredRow): void {
    const [id, , source] = stored;
    if (id < this.#from) return;
    const row = countedRow(stored);
    const { verdicts, values, delays } = this.#of(source);
    verdicts.set(row.verdict, (verdicts.get(row.verdict) ?? 0) + 1);
    const events: Events = values.get(row.value) ?? [0, 0];
    events[row.isRemoval ? 1 : 0] += 1;
    values.set(row.value, events);
    if (row.delay !== null) delays.set(row.delay, (delays.get(row.delay) ?? 0) + 1);
  }

  /** Yields the differences between the stored counters and the rows. */
  *problems(stored: Iterable<readonly [number, DayCounters]>, nameOf: NameOf): Generator<string> {
    const left = new Map(this.#expected);
    for (const [source, counters] of stored) {
      const expected = left.get(source) ?? emptyCounters();
      left.delete(source);
      const labeler = nameOf('source', source);
      for (const what of differences(counters, expected, nameOf)) yield `the counter of ${labeler} for ${what}`;
    }
    for (const source of left.keys()) yield `${nameOf('source', source)} has rows but no counters`;
  }

  #of(source: number): DayCounters {
    const counters = this.#expected.get(source) ?? emptyCounters();
    this.#expected.set(source, counters);
    return counters;
  }
}

/** Formats the counts of a counter. */
function described([applied, removed]: Events): string {
  return `${applied} applied and ${removed} removed`;
}

function* differences(stored: DayCounters, rows: DayCounters, nameOf: NameOf): Generator<string> {
  for (const verdict of signatureVerdicts) {
    const [has, expected] = [stored.verdicts.get(verdict) ?? 0, rows.verdicts.get(verdict) ?? 0];
    if (has !== expected) yield `${verdict} signatures has ${has}, but the rows have ${expected}`;
  }
  const others: Events = [0, 0];
  for (const [value, [applied, removed]] of rows.values) {
    if (stored.values.has(value)) continue;
    others[0] += applied;
    others[1] += removed;
  }
  if (!same(stored.others, others))
    yield `other values has ${described(stored.others)}, but the rows have ${described(others)}`;
  for (const [value, events] of stored.values) {
    const expected: Events = rows.values.get(value) ?? [0, 0];
    if (!same(events, expected)) {
      yield `${nameOf('val', value)} has ${described(events)}, but the rows have ${described(expected)}`;
    }
  }
  for (const range of new Set([...stored.delays.keys(), ...rows.delays.keys()])) {
    const [has, expected] = [stored.delays.get(range) ?? 0, rows.delays.get(range) ?? 0];
    if (has !== expected) yield `the delay range ${range} has ${has}, but the rows have ${expected}`;
  }
}

function same([a, b]: Events, [c, d]: Events): boolean {
  return a === c && b === d;
}
