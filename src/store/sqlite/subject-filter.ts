import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { StoreError } from '../errors.ts';
import type { Sqlite } from './connection.ts';
import type { SubjectKey } from './row.ts';

/** Ten bits a subject, seven of them looked at: of a hundred subjects that are not there, one seems to be. */
const bitsEach = 10;
const looks = 7;
const leastBits = 64;

/**
 * Says of a sealed day which subjects have no row in it, without a look at the rows: a Bloom filter. What it rules out
 * is not there; most accounts have rows in a few days of a window alone, and only those are worth a read of the disk.
 */
export class SubjectFilter {
  readonly #bits: Uint8Array;

  constructor(bits: Uint8Array) {
    this.#bits = bits;
  }

  /** False where the day has no row of the subject. */
  mayHold(subject: SubjectKey): boolean {
    const of = halvesOf(subject);
    for (let look = 0; look < looks; look++) {
      const bit = bitOf(of, look, this.#bits.length * 8);
      if (((this.#bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }
}

/** The bits of a filter that holds these subjects. */
export function filterBits(subjects: Iterable<SubjectKey>): Buffer {
  const halves: Halves[] = [];
  for (const subject of subjects) halves.push(halvesOf(subject));
  const bits = Buffer.alloc(Math.ceil(Math.max(leastBits, halves.length * bitsEach) / 8));
  for (const of of halves) {
    for (let look = 0; look < looks; look++) {
      const bit = bitOf(of, look, bits.length * 8);
      bits[bit >>> 3] = (bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return bits;
}

/** Keeps the filter of a sealed day that has all its rows. */
export function keepFilter(db: Sqlite): void {
  const subjects = db.prepare<[], SubjectKey>('SELECT DISTINCT subject FROM main.observation').pluck();
  const bits = filterBits(subjects.iterate());
  db.prepare('INSERT INTO main.subject_filter(bits, crc) VALUES (?, ?)').run(bits, crc32(bits));
}

/** The filter that a sealed day keeps. Throws `damaged` where its bits are not those that were kept: rows would be hidden. */
export function keptFilter(db: Sqlite): SubjectFilter {
  const row = db.prepare<[], [bits: Buffer, crc: number]>('SELECT bits, crc FROM subject_filter').raw().get();
  if (!row || crc32(row[0]) !== row[1]) throw new StoreError('damaged', `${db.name}: the filter of its subjects`);
  return new SubjectFilter(row[0]);
}

type Halves = readonly [number, number];

/** Two numbers of a subject, of which the places of all its bits are made. */
function halvesOf(subject: SubjectKey): Halves {
  const digest = hash('sha1', subject, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

function bitOf([first, second]: Halves, look: number, bits: number): number {
  return (first + look * second) % bits;
}
