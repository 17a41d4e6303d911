import { crc32 } from 'node:zlib';
import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import { delayBounds, type LabelerCounters, maxCountedValues } from '../../counts.ts';
import { StoreError } from '../../errors.ts';

/** Numbers of applications and removals. */
export type Events = [applied: number, removed: number];

/** Counters of one labeler's rows on one day. Values are identified by their numeric ids in the day's file. */
export interface DayCounters {
  readonly verdicts: Map<SignatureVerdict, number>;
  /**
   * Counts by value, for at most `maxCountedValues` values. A value keeps its entry until the day is sealed, even if
   * its rows are purged. Once the limit is reached, no other value gets an entry on that day.
   */
  readonly values: Map<number, Events>;
  /** Total counts of the rows of all values without an entry. */
  readonly others: Events;
  /** Number of live rows by delay range; ranges without rows may be absent. */
  readonly delays: Map<number, number>;
}

/** Returns counters in which every count is zero. */
export function emptyCounters(): DayCounters {
  return { verdicts: new Map(), values: new Map(), others: [0, 0], delays: new Map() };
}

/** Returns true if every count is zero. */
export function isEmpty({ verdicts }: DayCounters): boolean {
  return signatureVerdicts.every((verdict) => (verdicts.get(verdict) ?? 0) === 0);
}

/**
 * Encoding of one labeler's counters of one day as a single value, which a commit rewrites for each of its labelers.
 * All numbers are varints, in this order: the counts by verdict; the counts of the values without an entry; the number
 * of values and, for each value, the increase of its id and two counts; for each delay range with rows, the increase of
 * its index and its count. A checksum over this content and the labeler's id follows.
 */

/** Verdicts in the order in which their counts are stored. Adding a verdict requires a new schema version. */
const storedVerdicts = [
  'verified',
  'invalid',
  'unsigned',
  'unverified',
  'verified_earlier_key',
] as const satisfies readonly SignatureVerdict[];

const crcBytes = 4;

/** Packs the counters of a labeler. Throws `damaged` if a count is negative. */
export function packCounters({ verdicts, values, others, delays }: DayCounters, source: number, path: string): Buffer {
  const numbers = [...storedVerdicts.map((verdict) => verdicts.get(verdict) ?? 0), ...others, values.size];
  let before = 0;
  for (const [value, [applied, removed]] of [...values].sort(([a], [b]) => a - b)) {
    numbers.push(value - before, applied, removed);
    before = value;
  }
  before = 0;
  for (const [range, count] of [...delays].filter(([, count]) => count !== 0).sort(([a], [b]) => a - b)) {
    numbers.push(range - before, count);
    before = range;
  }
  const bytes: number[] = [];
  for (const number of numbers) {
    if (number < 0) throw damaged(path, source);
    let value = number;
    for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value & 0x7f) | 0x80);
    bytes.push(value);
  }
  const packed = Buffer.alloc(bytes.length + crcBytes);
  packed.set(bytes);
  packed.writeUInt32LE(crc32(packed.subarray(0, bytes.length), source), bytes.length);
  return packed;
}

/**
 * Unpacks the counters of a labeler that were read from the file `path`. Throws `damaged` if the checksum does not
 * match.
 */
export function unpackCounters(packed: unknown, source: number, path: string): DayCounters {
  const end = Buffer.isBuffer(packed) ? packed.length - crcBytes : -1;
  if (!Buffer.isBuffer(packed) || end < 0 || crc32(packed.subarray(0, end), source) !== packed.readUInt32LE(end)) {
    throw damaged(path, source);
  }
  const bytes: Buffer = packed;
  let at = 0;
  function next(): number {
    let value = 0;
    for (let scale = 1; at < end; scale *= 0x80) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  }
  const counters = emptyCounters();
  for (const verdict of storedVerdicts) counters.verdicts.set(verdict, next());
  counters.others[0] = next();
  counters.others[1] = next();
  let value = 0;
  for (let left = next(); left > 0 && at < end; left--) {
    value += next();
    const events: Events = [next(), next()];
    counters.values.set(value, events);
  }
  for (let range = 0; at < end; ) {
    range += next();
    counters.delays.set(range, next());
  }
  return counters;
}

function damaged(path: string, source: number): StoreError {
  return new StoreError('damaged', `${path}: the counters of labeler ${source} do not match their checksum`);
}

/** Maximum number of values in a sum. Above this number, the values with the smallest counts are added to `others`. */
const maxSummedValues = 2 * maxCountedValues;

/** Sum of one labeler's counters over several days. */
export class LabelerSum {
  readonly #verdicts = new Map<SignatureVerdict, number>();
  readonly #values = new Map<string, Events>();
  readonly #others: Events = [0, 0];
  readonly #delays: number[] = Array.from({ length: delayBounds.length + 1 }, () => 0);

  /** Adds the counters of a day. `texts` contains the texts of the day's values by id. */
  addDay({ verdicts, values, others, delays }: DayCounters, texts: ReadonlyMap<number, string>): void {
    for (const [verdict, count] of verdicts) this.#addVerdict(verdict, count);
    for (const [value, [applied, removed]] of values) {
      if (applied + removed > 0) this.#addValue(texts.get(value) ?? '', applied, removed);
    }
    this.#addOthers(others);
    for (const [range, count] of delays) this.#addDelays(range, count);
  }

  /** Adds another sum of the same labeler. */
  add(sum: LabelerSum): void {
    for (const [verdict, count] of sum.#verdicts) this.#addVerdict(verdict, count);
    for (const [value, [applied, removed]] of sum.#values) this.#addValue(value, applied, removed);
    this.#addOthers(sum.#others);
    for (const [range, count] of sum.#delays.entries()) this.#addDelays(range, count);
  }

  /** Returns the sum in the form of the port. */
  counters(labeler: string): LabelerCounters {
    const sorted = largestFirst(this.#values);
    const others: Events = [...this.#others];
    for (const [, events] of sorted.slice(maxCountedValues)) increase(others, events);
    const verdicts = Object.fromEntries(
      signatureVerdicts.map((verdict) => [verdict, this.#verdicts.get(verdict) ?? 0]),
    );
    return {
      labeler,
      verdicts: verdicts as Record<SignatureVerdict, number>,
      values: sorted.slice(0, maxCountedValues).map(([value, [applied, removed]]) => ({ value, applied, removed })),
      others: { applied: others[0], removed: others[1] },
      delays: [...this.#delays],
    };
  }

  #addVerdict(verdict: SignatureVerdict, count: number): void {
    this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + count);
  }

  #addValue(value: string, applied: number, removed: number): void {
    const events = this.#values.get(value);
    if (events) increase(events, [applied, removed]);
    else this.#values.set(value, [applied, removed]);
    if (this.#values.size > maxSummedValues) this.#shrink();
  }

  #addOthers(events: Events): void {
    increase(this.#others, events);
  }

  #addDelays(range: number, count: number): void {
    this.#delays[range] = (this.#delays[range] ?? 0) + count;
  }

  /** Limits the number of values, because different days may have different values. */
  #shrink(): void {
    for (const [value, events] of largestFirst(this.#values).slice(maxCountedValues)) {
      increase(this.#others, events);
      this.#values.delete(value);
    }
  }
}

function increase(sum: Events, [applied, removed]: Events): void {
  sum[0] += applied;
  sum[1] += removed;
}

function largestFirst(values: ReadonlyMap<string, Events>): [string, Events][] {
  return [...values].sort(([a, x], [b, y]) => y[0] + y[1] - x[0] - x[1] || (a < b ? -1 : 1));
}
