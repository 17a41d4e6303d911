import { gunzipSync } from 'node:zlib';
import { decodeFirst } from '@atcute/cbor';
import { describe, expect, test } from 'vitest';
import { deepFrame, gzipPage, webSocketFrame, wideFrame } from './bytes.ts';
import { firstSeq, floodOfEmptyFrames, floodOfLabels } from './label-bytes.ts';

/** Decodes the bodies of the messages in the bytes of a stream. */
function bodies(bytes: Buffer): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (let at = 0; at < bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 127;
    const [head, length] =
      short < 126
        ? [2, short]
        : short === 126
          ? [4, bytes.readUInt16BE(at + 2)]
          : [10, Number(bytes.readBigUInt64BE(at + 2))];
    const [header, rest] = decodeFirst(bytes.subarray(at + head, at + head + length)) as [unknown, Uint8Array];
    expect(header).toEqual({ op: 1, t: '#labels' });
    found.push((decodeFirst(rest) as [Record<string, unknown>, Uint8Array])[0]);
    at += head + length;
  }
  return found;
}

/**
 * The inputs must be valid apart from the attack. If a reader refused an input because of another error, the input
 * would not test the attack.
 */
describe('hostile bytes', () => {
  test.each([
    ['array', []],
    ['map', {}],
    ['integer', 1],
    ['text', ''],
  ] as const)('decode as a wide frame of %s items', (item, value) => {
    const items = Array.from({ length: 70_000 }, () => value);
    expect(bodies(wideFrame(item, 'labels', 70_000))).toEqual([{ seq: 1, labels: items }]);
    expect(bodies(wideFrame(item, 'field', 70_000))).toEqual([{ seq: 1, labels: [{ x: items }] }]);
  });

  test('decode as a deeply nested frame', () => {
    expect(bodies(deepFrame(3))).toEqual([{ seq: 1, labels: [[[[[]]]]] }]);
  });

  test('decompress to a page of empty arrays', () => {
    expect(JSON.parse(gunzipSync(gzipPage(3)).toString())).toEqual({ labels: [[], [], [], []] });
  });

  test('decode as a flood of frames whose labels all differ', () => {
    const about = { src: 'did:plc:a', account: 'did:plc:b', nowMs: Date.UTC(2026, 0, 1) };
    const next = floodOfLabels({ ...about, perFrame: 3, frames: 2, padding: 500, signature: new Uint8Array(64) });
    const frames = [...bodies(next()), ...bodies(next())];
    expect(frames.map(({ seq }) => Number(seq) - firstSeq)).toEqual([0, 1, 2, 3]);
    const labels = frames.flatMap((frame) => frame.labels as { uri: string; pad: string }[]);
    expect(new Set(labels.map(({ uri }) => uri)).size).toBe(12);
    expect(labels.every(({ pad }) => pad.length === 500)).toBe(true);
  });

  test('decode as frames without labels', () => {
    expect(bodies(floodOfEmptyFrames(2)())).toEqual([
      { seq: firstSeq, labels: [] },
      { seq: firstSeq + 1, labels: [] },
    ]);
  });

  test('use the shortest possible header for a short frame', () => {
    expect([...webSocketFrame(new Uint8Array(2), { opcode: 9 })]).toEqual([0x89, 2, 0, 0]);
  });
});
