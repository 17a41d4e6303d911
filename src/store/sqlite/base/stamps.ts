/**
 * Packed acceptance times of one source's rows in one minute. Each row is a varint: the difference between its offset
 * and the previous row's offset in microseconds, shifted left by one, plus one bit that marks a removal. With the
 * stamps, rows at the edges of a window can be counted exactly, so that a sealed day needs no index by time.
 */

/** Offset of one accepted row within its minute, in microseconds. */
export interface Stamp {
  readonly offset: number;
  readonly removed: boolean;
}

/** Packs the stamps of a minute. The offsets must not decrease. */
export function packStamps(stamps: readonly Stamp[]): Buffer {
  const bytes: number[] = [];
  let before = 0;
  for (const { offset, removed } of stamps) {
    let value = (offset - before) * 2 + (removed ? 1 : 0);
    before = offset;
    while (value >= 0x80) {
      bytes.push((value & 0x7f) | 0x80);
      value = value >>> 7;
    }
    bytes.push(value);
  }
  return Buffer.from(bytes);
}

/** Unpacks the stamps of a minute. */
export function* unpackStamps(bytes: Uint8Array): Generator<Stamp> {
  let offset = 0;
  let value = 0;
  let shift = 0;
  for (const byte of bytes) {
    value += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (byte < 0x80) {
      offset += value >>> 1;
      yield { offset, removed: (value & 1) === 1 };
      value = 0;
      shift = 0;
    }
  }
}
