import { hash } from 'node:crypto';
import { signatureVerdicts } from '../label.ts';
import type { CopiedRow, DayCounts } from './parts.ts';

/** Number of 32-bit sums; together they are as long as one SHA-256 hash. */
const lanes = 8;

/**
 * Digest of a set of rows: the sum of the SHA-256 hashes of the rows, computed as eight sums of 32 bits. The digest
 * does not depend on the row order, so that a sealed day, or a table without a time index, can be read in its stored
 * order, which is fastest.
 */
export class RowDigest {
  readonly #sums: Uint32Array;

  /** Resumes a digest from the result of `text`, or starts an empty digest if `text` is empty. */
  constructor(text = '') {
    this.#sums = new Uint32Array(lanes);
    const bytes = Buffer.from(text, 'hex');
    for (let i = 0; i < lanes && bytes.length === lanes * 4; i++) this.#sums[i] = bytes.readUInt32LE(i * 4);
  }

  add(row: CopiedRow): void {
    const found = hash('sha256', encodedRow(row), 'buffer');
    for (let i = 0; i < lanes; i++) this.#sums[i] = (this.#sums[i] ?? 0) + found.readUInt32LE(i * 4);
  }

  /** Returns the digest as 64 hexadecimal digits. */
  text(): string {
    const bytes = Buffer.alloc(lanes * 4);
    for (let i = 0; i < lanes; i++) bytes.writeUInt32LE(this.#sums[i] ?? 0, i * 4);
    return bytes.toString('hex');
  }
}

const absent = 0xff_ff_ff_ff;
/** Number of bytes that precede the signature and the other fields in an encoded row. */
const fixedBytes = 8 + 3 + 16 + 9 + 8;

/**
 * Encodes a row: the stamp, the verdict, the live flag, the form of `neg`, the identity, `ver`, and the lengths and
 * bytes of the signature and of the other fields. The identity covers src, uri, cid, val, cts and exp.
 */
function encodedRow({ at, observation, identity }: CopiedRow): Buffer {
  const { label, signature, live = false } = observation;
  const { ver, neg, sig, extra } = label;
  const bytes = Buffer.alloc(fixedBytes + (sig?.length ?? 0) + (extra?.length ?? 0));
  bytes.writeDoubleLE(at, 0);
  bytes[8] = signatureVerdicts.indexOf(signature);
  bytes[9] = live ? 1 : 0;
  bytes[10] = neg === undefined ? 0 : neg ? 2 : 1;
  bytes.set(identity, 11);
  bytes[27] = ver === undefined ? 0 : 1;
  bytes.writeDoubleLE(ver ?? 0, 28);
  bytes.writeUInt32LE(sig?.length ?? absent, 36);
  bytes.writeUInt32LE(extra?.length ?? absent, 40);
  if (sig) bytes.set(sig, fixedBytes);
  if (extra) bytes.set(extra, fixedBytes + (sig?.length ?? 0));
  return bytes;
}

/** Returns the digest of a day's counters. Ignores entries whose counts are zero. */
export function countsDigest({ minutes, hours, refusals, labelers, countedFrom }: DayCounts): string {
  const times = (counts: DayCounts['minutes']) => sorted(counts.filter(([, , a, r]) => a + r > 0));
  const named = labelers.map(({ labeler, verdicts, values, others, delays }) => [
    labeler,
    signatureVerdicts.map((verdict) => verdicts[verdict] ?? 0),
    sorted(values.filter(([, a, r]) => a + r > 0)),
    others,
    sorted(delays.filter(([, rows]) => rows > 0)),
  ]);
  const counted = named.filter(([, verdicts]) => (verdicts as number[]).some((rows) => rows > 0));
  const all = [times(minutes), times(hours), sorted(refusals.filter(([, , , rows]) => rows > 0)), sorted(counted)];
  return hash('sha256', JSON.stringify([...all, countedFrom]));
}

function sorted(entries: readonly unknown[]): string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort();
}

/** Returns the total number of rows in the counters of minutes or hours. */
export function countedRows(counts: DayCounts['minutes']): number {
  return counts.reduce((sum, [, , applied, removed]) => sum + applied + removed, 0);
}
