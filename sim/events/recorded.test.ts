import { describe, expect, it } from 'vitest';
import { RecordedSource } from './recorded.ts';
import { payloadOf } from './template.ts';

const frames = [
  '{"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","time_us":3000,"kind":"identity","identity":{}}',
  'no JSON at all',
  '{"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","time_us":1000,"kind":"commit","commit":{"operation":"create","collection":"app.bsky.feed.like"}}',
  `{"time_us":2000,"kind":"sync","filler":"${'x'.repeat(70_000)}"}`,
];

describe('recorded frames', () => {
  it('form a block that contains their unchanged bytes and their recorded times in file order', () => {
    const { bytes, offsets, count, timeUs } = new RecordedSource({
      frames,
      as: 'history',
      rate: 1,
      startUs: 0,
    }).block();
    const payloads = Array.from({ length: count }, (_, at) =>
      Buffer.from(payloadOf(bytes.subarray(offsets[at], offsets[at + 1]))).toString(),
    );
    expect(payloads).toEqual(frames);
    expect([...timeUs]).toEqual([3000, 0, 1000, 2000]);
  });

  it('are all in the past in history mode, and occur one by one at the given rate in live mode', () => {
    const startUs = 1_000_000;
    const history = new RecordedSource({ frames, as: 'history', rate: 2, startUs });
    const live = new RecordedSource({ frames, as: 'live', rate: 2, startUs });
    const moments = [0, startUs, startUs + 499_999, startUs + 500_000, startUs + 60_000_000];
    expect(moments.map((moment) => history.edge(moment))).toEqual([4, 4, 4, 4, 4]);
    expect(moments.map((moment) => live.edge(moment))).toEqual([0, 0, 0, 1, 4]);
  });

  it('are replayed from the first frame in the file whose time is at or after the cursor', () => {
    const source = new RecordedSource({ frames, as: 'history', rate: 1, startUs: 0 });
    expect([0, 1000, 3000, 3001].map((cursor) => source.seek(cursor))).toEqual([0, 0, 0, 4]);
  });
});
