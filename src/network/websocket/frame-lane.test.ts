import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { webSocketFrame } from '../../../sim/labelers/hostile/bytes.ts';
import { FrameLane } from './partial-message.ts';

const maxBytes = 70_000;

/** Encodes a frame as a server does, with any first byte. */
function encode(first: number, payload: Buffer): Buffer {
  const frame = webSocketFrame(payload);
  frame[0] = first;
  return frame;
}

interface Handled {
  /** Everything that the lane passed on, in order, with the messages encoded again. */
  readonly bytes: Buffer;
  readonly messages: Buffer[];
  readonly isLeft: boolean;
}

/** Passes chunks through a lane. Records the bytes directly once the lane has handed over to the library. */
function handle(chunks: readonly Buffer[]): Handled {
  const passed: Buffer[] = [];
  const messages: Buffer[] = [];
  const lane = new FrameLane({
    maxBytes,
    message: (data, isBinary) => {
      messages.push(Buffer.from(data));
      passed.push(encode(isBinary ? 0x82 : 0x81, data));
    },
    rest: (bytes) => passed.push(Buffer.from(bytes)),
  });
  let isLeft = false;
  for (const chunk of chunks) {
    if (isLeft) passed.push(chunk);
    else isLeft = !lane.chunk(chunk);
  }
  return { bytes: Buffer.concat(passed), messages, isLeft };
}

const payload = fc.oneof(
  { weight: 8, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 125, 126, 127, 65_535, 65_536).map((size) => new Uint8Array(size)) },
);
const dataFrame = fc
  .tuple(fc.constantFrom(0x81, 0x82), payload)
  .map(([first, data]) => encode(first, Buffer.from(data)));
const controlFrame = fc
  .tuple(fc.constantFrom(0x89, 0x8a), fc.uint8Array({ maxLength: 125 }))
  .map(([first, data]) => encode(first, Buffer.from(data)));
const anyFrame = fc
  .tuple(fc.integer({ min: 0, max: 255 }), payload)
  .map(([first, data]) => encode(first, Buffer.from(data)));
const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });

/** Cuts bytes into chunks of the given sizes, which repeat. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

describe('the fast path for complete websocket messages', () => {
  it('neither loses nor reorders a byte, wherever the chunks are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(dataFrame, controlFrame, anyFrame), { maxLength: 30 }), cuts, (frames, sizes) => {
        const bytes = Buffer.concat(frames);
        expect(handle(cut(bytes, sizes)).bytes.equals(bytes)).toBe(true);
      }),
    );
  });

  it('continues after messages, pings and pongs of any size, wherever the chunks are cut', () => {
    const end = Buffer.from('the end');
    fc.assert(
      fc.property(fc.array(fc.oneof(dataFrame, controlFrame), { maxLength: 30 }), cuts, (frames, sizes) => {
        const { messages, isLeft } = handle([...cut(Buffer.concat(frames), sizes), encode(0x81, end)]);
        expect({ isLeft, last: messages.at(-1) }).toEqual({ isLeft: false, last: end });
      }),
    );
  });

  it('delivers every message of at most 65,535 bytes that is complete in its chunk', () => {
    const texts = ['', 'a', 'x'.repeat(125), 'y'.repeat(126), 'z'.repeat(65_535)].map((text) => Buffer.from(text));
    const chunk = Buffer.concat(texts.map((text) => encode(0x81, text)));
    expect(handle([chunk]).messages).toEqual(texts);
  });

  it.each([
    ['a fragment', [0x01, 0x01, 0x78]],
    ['a continuation', [0x80, 0x01, 0x78]],
    ['a close frame', [0x88, 0x00]],
    ['a reserved bit', [0xc1, 0x01, 0x78]],
    ['an unknown opcode', [0x83, 0x01, 0x78]],
    ['a masked message', [0x81, 0x81, 1, 2, 3, 4, 0x79]],
    ['a ping that is too long', [0x89, 126, 0, 126]],
    ['a ping with a fragment bit', [0x09, 0x00]],
    ['a message above the limit', [0x81, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x71]],
    ['a length above 2^53', [0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255]],
  ])('passes %s and all later bytes to the library', (_name, bytes) => {
    const before = encode(0x81, Buffer.from('before'));
    const after = encode(0x81, Buffer.from('after'));
    const all = Buffer.concat([before, Buffer.from(bytes), after]);
    const whole = { bytes: all, messages: [Buffer.from('before')], isLeft: true };
    expect(handle([all, after])).toEqual({ ...whole, bytes: Buffer.concat([all, after]) });
    const byteByByte = handle(cut(all, [1]));
    expect({ bytes: byteByByte.bytes, isLeft: byteByByte.isLeft }).toEqual({ bytes: all, isLeft: true });
  });
});
