import { readFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decompressor } from './dictionary.ts';

const dictionary = readFileSync(new URL('../../../test/fixtures/jetstream/dictionary.zstd', import.meta.url));
const mib = 1024 * 1024;
const decompress = decompressor(dictionary, 10 * mib);
const packed = (plain: Buffer) => zstdCompressSync(plain, { dictionary });

describe('a compressed frame', () => {
  it('expands to up to 1 MiB, no matter how short it is', () => {
    const plain = Buffer.alloc(mib, '[');
    expect(packed(plain).length).toBeLessThan(1_000);
    expect(decompress(packed(plain), true).equals(plain)).toBe(true);
  });

  it('is returned unchanged if it would expand to more than 1 MiB and more than 64 times its length', () => {
    const bomb = packed(Buffer.alloc(2 * mib, '['));
    expect(decompress(bomb, true) === bomb).toBe(true);
  });

  it('expands to more than 1 MiB if the result is at most 64 times its length', () => {
    // Make ten of every 40 bytes random, so that they cannot be compressed.
    const lines = Array.from(
      { length: 60_000 },
      (_, n) => `${(n * 2_654_435_761).toString(36).padStart(10)}${'x'.repeat(30)}`,
    );
    const plain = Buffer.from(lines.join(''));
    expect(plain.length).toBeGreaterThan(2 * mib);
    expect(decompress(packed(plain), true).equals(plain)).toBe(true);
  });

  it('is returned unchanged if it states a window that is larger than any frame', () => {
    // Header with the exponent of the window and without a dictionary id, then one block that expands to 128 KiB of a
    // single repeated byte.
    const frame = (exponent: number) =>
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (exponent - 10) << 3, 0x03, 0x00, 0x10, 0x5b]);
    expect(decompress(frame(24), true).equals(Buffer.alloc(131_072, '['))).toBe(true);
    for (const wide of [frame(25), frame(27)]) expect(decompress(wide, true) === wide).toBe(true);
  });

  it('is returned unchanged if its expansion would exceed the maximum length of a frame', () => {
    const frame = packed(Buffer.from('0123456789'));
    expect(decompressor(dictionary, 10)(frame, true).toString()).toBe('0123456789');
    expect(decompressor(dictionary, 9)(frame, true) === frame).toBe(true);
  });
});
