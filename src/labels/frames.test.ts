import { readFileSync } from 'node:fs';
import { encode } from '@atcute/cbor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFrame } from './frames.ts';

const recorded = JSON.parse(
  readFileSync(new URL('../../test/fixtures/labels/subscribeLabels_frames.json', import.meta.url), 'utf8'),
) as { frames: { name: string; hex: string; body: unknown }[] };

const frame = (header: unknown, body: unknown) => Buffer.concat([encode(header), encode(body)]);

describe('recorded frames', () => {
  const read = Object.fromEntries(recorded.frames.map(({ name, hex }) => [name, readFrame(Buffer.from(hex, 'hex'))]));

  test('are labels under their number, with every field', () => {
    expect(JSON.parse(JSON.stringify(read.labels))).toEqual({
      kind: 'labels',
      ...(recorded.frames.find(({ name }) => name === 'labels')?.body as object),
    });
  });

  test('are what the labeler says of our cursor', () => {
    expect([read['info-OutdatedCursor'], read['error-FutureCursor']]).toEqual([
      { kind: 'outdated_cursor' },
      { kind: 'future_cursor' },
    ]);
  });
});

test.each([
  ['consumer_too_slow', frame({ op: -1 }, { error: 'ConsumerTooSlow', message: 'x' })],
  ['error', frame({ op: -1 }, { error: 'InternalServerError' })],
  ['unknown', frame({ op: 1, t: '#info' }, { name: 'Hello' })],
  ['unknown', frame({ op: 1, t: '#poem' }, { text: '…' })],
  ['malformed', frame({ op: 9, t: '#labels' }, { seq: 1, labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: 1 })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: '1', labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, { seq: -1, labels: [] })],
  ['malformed', frame({ op: 1, t: '#labels' }, 'labels')],
  ['malformed', encode({ op: 1, t: '#labels' })],
  ['malformed', Buffer.from('hello')],
  ['malformed', Buffer.alloc(0)],
])('%s', (kind, bytes) => {
  expect(readFrame(bytes)).toEqual({ kind });
});

test('no bytes throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(readFrame(bytes)).toHaveProperty('kind');
    }),
  );
});
