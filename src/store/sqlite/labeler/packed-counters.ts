import { crc32 } from 'node:zlib';
import { StoreError } from '../../errors.ts';
import type { SignatureVerdict } from '../../label.ts';
import { type DayCounters, type Events, emptyCounters } from './day-counters.ts';

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
