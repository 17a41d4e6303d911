/**
 * Encoding of the acceptance times of one source's rows in one minute. Each row is a varint: the difference of its
 * offset in microseconds from the previous row's offset, shifted left by one, plus a bit that marks a removal. The
 * stamps give exact counts at the edges of a window, so that a sealed day requires no index by time.
 */

/** One accepted row within its minute. */
export interface Stamp {
  readonly offset: number;
  readonly removed: boolean;
}

/** Packs stamps; offsets must not decrease. */
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

/** Returns the stamps of a minute from their packed form. */
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
