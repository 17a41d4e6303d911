import { readFileSync } from 'node:fs';
import { encode, toBytes } from '@atcute/cbor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFrame } from './frame-queue.ts';

const maxFrameLabels = 10_000;

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/labels/subscribeLabels_frames.json', import.meta.url), 'utf8'),
) as { frames: { name: string; hex: string; body: unknown }[] };

const frame = (header: unknown, body: unknown) => Buffer.concat([encode(header), encode(body)]);

describe('recorded frames', () => {
  const read = Object.fromEntries(recorded.frames.map(({ name, hex }) => [name, readFrame(Buffer.from(hex, 'hex'))]));

  test('are decoded to labels with their sequence number and every field', () => {
    expect(JSON.parse(JSON.stringify(read.labels))).toEqual({
      kind: 'labels',
      ...(recorded.frames.find(({ name }) => name === 'labels')?.body as object),
    });
  });

  test('are decoded to messages about the cursor', () => {
    expect([read['info-OutdatedCursor'], read['error-FutureCursor']]).toEqual([
      { kind: 'outdated_cursor' },
      { kind: 'future_cursor' },
    ]);
  });
});

test.each([
  ['consumer_too_slow', frame({ op: -1 }, { error: 'ConsumerTooSlow', message: 'x' })],
  ['error', frame({ op: -1 }, { error: 'InternalServerError' })],
  ['info', frame({ op: 1, t: '#info' }, { name: 'Hello' })],
  ['unknown', frame({ op: 1, t: '#poem' }, { text: '…' })],
  ['malformed', frame({ op: 9, t: '#labels' }, { seq: 1, labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: 1 })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: '1', labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: null, labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: 1, labels: {} })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: -1, labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, 'labels')],
  ['malformed', encode({ op: 1, t: '#labels' })],
  ['malformed', Buffer.from('hello')],
  ['malformed', Buffer.alloc(0)],
])('a frame is recognized as %s', (kind, bytes) => {
  expect(readFrame(bytes)).toEqual({ kind });
});

/** Returns a frame whose body has these bytes. */
const withBody = (...parts: readonly (Uint8Array | readonly number[])[]) =>
  Buffer.concat([encode({ op: 1, t: '#labels' }), ...parts.map((part) => Uint8Array.from(part))]);
const [seqKey, labelsKey, oneLabel] = [encode('seq'), encode('labels'), encode([{ val: 'a' }])];

// Other decoders accept these frames, so their labels exist: each frame must be a hole, not an empty or partial list.
test.each([
  ['a number in eight bytes', withBody([0xa2], seqKey, [0x1b, 0, 0, 0, 0, 0, 0, 0, 3], labelsKey, oneLabel)],
  ['a number in two bytes', withBody([0xa2], seqKey, [0x18, 3], labelsKey, oneLabel)],
  ['the length of a list in two bytes', withBody([0xa2], seqKey, [3], labelsKey, [0x98, 1, 0xa0])],
  ['a map of indefinite length', withBody([0xbf], seqKey, [3], labelsKey, oneLabel, [0xff])],
  ['a list of indefinite length', withBody([0xa2], seqKey, [3], labelsKey, [0x9f, 0xa0, 0xff])],
  ['keys in another order', withBody([0xa2], labelsKey, oneLabel, seqKey, [3])],
  ['two lists of labels', withBody([0xa3], seqKey, [3], labelsKey, oneLabel, labelsKey, [0x80])],
  ['text that is not UTF-8', withBody([0xa2], seqKey, [3], labelsKey, [0x81, 0xa1, 0x61, 0x76, 0x61, 0xff])],
  ['a number beyond the safe integers', withBody([0xa2], seqKey, [0x1b, ...Array(8).fill(0xff)], labelsKey, oneLabel)],
])('a frame with %s is malformed', (_, bytes) => {
  expect(readFrame(bytes)).toEqual({ kind: 'malformed' });
});

test.each(['#labels', 'com.atproto.label.subscribeLabels#labels'])('the type %s announces labels', (t) => {
  expect(readFrame(frame({ op: 1, t }, { seq: 7, labels: [] }))).toEqual({ kind: 'labels', seq: 7, labels: [] });
});

test('null as the labels of a frame stands for an empty list', () => {
  const bytes = frame({ op: 1, t: '#labels' }, { seq: 7, labels: null });
  expect(readFrame(bytes)).toEqual({ kind: 'labels', seq: 7, labels: [] });
});

test.each([
  ['another message', frame({ op: 1, t: '#labels' }, { seq: 8, labels: [] })],
  ['a header', encode({ op: 1, t: '#labels' })],
  ['a line feed', Buffer.from('\n')],
])('a frame with %s after its message is malformed, because the rest may contain labels', (_, rest) => {
  const first = frame({ op: 1, t: '#labels' }, { seq: 7, labels: [] });
  expect(readFrame(Buffer.concat([first, rest]))).toEqual({ kind: 'malformed' });
});

test.each(['com.atproto.label.subscribeLabels#info', '#info'])('the type %s announces information', (t) => {
  expect(readFrame(frame({ op: 1, t }, { name: 'OutdatedCursor' }))).toEqual({ kind: 'outdated_cursor' });
});

test.each([
  'labels',
  'com.atproto.label.subscribeLabels',
  'com.atproto.sync.subscribeRepos#labels',
  'com.atproto.label.subscribeLabels##labels',
  null,
])('the type %s is unknown', (t) => {
  expect(readFrame(frame({ op: 1, t }, { seq: 7, labels: [] }))).toEqual({ kind: 'unknown' });
});

test('reading a frame of random bytes does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(readFrame(bytes)).toHaveProperty('kind');
    }),
  );
});

/** Returns a frame whose labels are these CBOR bytes. */
function labelsOf(cbor: Uint8Array): Uint8Array {
  const body = Buffer.concat([
    Buffer.from([0xa2, 0x63]),
    Buffer.from('seq'),
    Buffer.from([0x01, 0x66]),
    Buffer.from('labels'),
  ]);
  return Buffer.concat([encode({ op: 1, t: '#labels' }), body, cbor]);
}

function array(length: number, item: number): Uint8Array {
  const bytes = Buffer.alloc(length + 5, item);
  bytes[0] = 0x9a;
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

describe('a frame with many elements', () => {
  test.each([
    ['empty arrays', labelsOf(array(11_900_000, 0x80))],
    ['empty maps', labelsOf(array(11_900_000, 0xa0))],
    ['integers', labelsOf(array(11_900_000, 0x01))],
    ['empty arrays in one label', labelsOf(Buffer.concat([Buffer.from([0x81]), array(300_000, 0x80)]))],
    ['nested arrays', labelsOf(Buffer.alloc(5_000, 0x81))],
  ])('is not decoded if it would need far more memory than its bytes (%s)', (_what, bytes) => {
    const heap = process.memoryUsage().heapUsed;
    const cpu = process.cpuUsage();
    expect(readFrame(bytes)).toEqual({ kind: 'over_budget' });
    const { user, system } = process.cpuUsage(cpu);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(16 * 1024 * 1024);
    expect(user + system).toBeLessThan(1_000_000);
  });

  test('is decoded if it has the maximum number of labels, each with every field and some unknown fields', () => {
    const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
    const label = {
      ...{
        ver: 1,
        src: did,
        uri: did,
        cid: 'bafy',
        val: 'a',
        neg: true,
        cts: '2026-07-10T12:00:00Z',
        exp: '2026-07-11T12:00:00Z',
      },
      ...{ sig: toBytes(new Uint8Array(64)), id: 7, note: 'x' },
    };
    const labels = Array.from({ length: maxFrameLabels }, () => label);
    expect(readFrame(frame({ op: 1, t: '#labels' }, { seq: 1, labels }))).toMatchObject({ kind: 'labels', seq: 1 });
  });
});
