import { signatureVerdicts } from '../../label.ts';
import { dayStart } from '../../time.ts';
import type { DayForm } from '../base/files.ts';
import { schemaVersion } from '../base/migrate.ts';
import type { NameOf, StoredRow } from '../base/row.ts';
import type { CheckedGroups } from '../blocks/group-sums.ts';
import type { DayFile } from '../schema/day-file.ts';
import { labelersCountedFrom, metaNames } from '../schema/day-schema.ts';
import { countedStoredRow, type DayCounters, type Events, emptyCounters, unpackCounters } from './day-counters.ts';

/** Reads the labeler counters of a day's file. */
export class StoredLabelerCounters {
  readonly #file: DayFile;
  readonly #day: number;
  readonly #form: DayForm;
  readonly #groups: CheckedGroups | null;
  /** Returns a number that the file stores under a name, or null if the file has no such number. */
  readonly #meta: (name: string) => number | null;

  constructor(
    file: DayFile,
    { day, form }: { readonly day: number; readonly form: DayForm },
    groups: CheckedGroups | null,
    meta: (name: string) => number | null,
  ) {
    this.#file = file;
    this.#day = day;
    this.#form = form;
    this.#groups = groups;
    this.#meta = meta;
  }

  /**
   * Returns the stamp from which the rows of the day are counted, or the end of the day if the file has no counters.
   */
  from(): number {
    if (!this.#isStored()) return dayStart(this.#day + 1);
    return this.#meta(metaNames.countedFrom) ?? dayStart(this.#day);
  }

  /** Yields the numeric id and the counters of every labeler. */
  *all(): Generator<readonly [source: number, counters: DayCounters]> {
    for (const [source, packed] of this.packed()) yield [source, this.unpacked(source, packed)];
  }

  /** Yields the numeric id and the packed counters of every labeler. */
  *packed(): Generator<readonly [source: number, packed: Buffer]> {
    if (!this.#isStored()) return;
    const rows = this.#groups
      ? this.#groups.table<readonly [number, Buffer]>('counter_labeler')
      : this.#file.all<[number, unknown]>('SELECT source, packed FROM counter_labeler ORDER BY source', []);
    for (const [source, packed] of rows) yield [source, Buffer.isBuffer(packed) ? packed : Buffer.alloc(0)];
  }

  /** Unpacks stored counters of a labeler. Throws `damaged` if they do not match their checksum. */
  unpacked(source: number, packed: Buffer): DayCounters {
    return unpackCounters(packed, source, this.#file.path);
  }

  /** Returns true if the file has counters. Not cached, because a writer may migrate an open day at any time. */
  #isStored(): boolean {
    return schemaVersion(this.#file.db) >= labelersCountedFrom[this.#form];
  }
}

/** Compares the stored counters of a day's labelers with the rows of the day. */
export class LabelerCounterCheck {
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
    const row = countedStoredRow(stored);
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
