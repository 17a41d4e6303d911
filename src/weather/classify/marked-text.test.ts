import { expect, test } from 'vitest';
import { byteWords, MarkedText, plainMarker, textOf } from './byte-words.ts';
import { JsonScan, malformed } from './json-scan.ts';

/** Returns the indices of a text's marks, including the mark at its end. */
function marksOf(memory: MarkedText, text: Uint8Array): number[] {
  memory.put(text);
  const indices = Array.from({ length: text.length + 1 }, (_, i) => i);
  return indices.filter((i) => ((memory.marks[i >> 5] ?? 0) & (1 << (i & 31))) !== 0);
}

/** Returns the indices of quotes, backslashes and control characters, and of the end. */
function stopsOf(text: Uint8Array): number[] {
  const stops = [...text].flatMap((byte, i) => (byte === 0x22 || byte === 0x5c || byte < 0x20 ? [i] : []));
  return [...stops, text.length];
}

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);

test.each([
  ['the WebAssembly module', new MarkedText(1_000)],
  ['the loop for platforms without WebAssembly', new MarkedText(1_000, plainMarker)],
])('%s marks quotes, backslashes, control characters and the end of each text', (_, memory) => {
  expect(marksOf(memory, everyByte)).toEqual(stopsOf(everyByte));
  // Each text is shorter than the previous one, and the texts end at every position of a block.
  for (let length = 130; length >= 0; length -= 1) {
    const text = everyByte.subarray(100 - (length % 97), 100 - (length % 97) + length);
    expect(marksOf(memory, text)).toEqual(stopsOf(text));
  }
});

test('a text that exceeds the capacity causes an allocation of new memory, which every scanner then uses', () => {
  const [first, second] = [new JsonScan(), new JsonScan()];
  const usual = textOf(0);
  const long = Buffer.from(`"${'x'.repeat(usual.capacity)}"`);
  first.load(long);
  expect(first.string(1)).toBe(long.length);
  second.load(Buffer.from('"like" '));
  expect([second.string(1), second.length]).toEqual([6, 7]);
  expect(second.find(byteWords(['like']), 1, 5)).toBe(0);
  expect(textOf(0)).not.toBe(usual);
  // The scan of an unterminated string stops at the end of the new text, and does not read the bytes that a longer,
  // earlier text left after it.
  second.load(Buffer.from('"like'));
  expect(second.string(1)).toBe(malformed);
});
