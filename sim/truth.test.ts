import { describe, expect, it } from 'vitest';
import { RecordedSource } from './events/recorded.ts';
import { Delivery, Truth } from './truth.ts';

const minuteUs = 60_000_000;

function like(timeUs: number): string {
  return `{"time_us":${timeUs},"kind":"commit","commit":{"operation":"create","collection":"app.bsky.feed.like"}}`;
}

function post(timeUs: number): string {
  return `{"time_us":${timeUs},"kind":"commit","commit":{"operation":"create","collection":"app.bsky.feed.post"}}`;
}

function truthOf(frames: readonly string[]): Truth {
  return new Truth(new RecordedSource({ frames, as: 'history', rate: 1, startUs: 0 }));
}

function delivery(id: number, wanted: readonly string[], from: number, to: number): Delivery {
  const made = new Delivery(id, { wire: 'jetstream.legacy', kinds: [], wantedCollections: wanted }, 0);
  made.add([{ from, to }], to - from);
  made.closedAtUs = 1;
  return made;
}

describe('the record of events', () => {
  it('counts all events in an interval whose start is inclusive and whose end is exclusive', () => {
    const truth = truthOf([like(10), like(20), post(30), 'noise']);
    const { metrics, ...outcomes } = truth.countsBetween(10, 30);
    expect(outcomes).toEqual({ events: 2, notJson: 1, noTime: 0, resync: 0 });
    expect([metrics['like.create'], metrics['post.create']]).toEqual([2, 0]);
  });

  it('counts the events of each UTC minute', () => {
    const truth = truthOf([like(minuteUs - 1), like(minuteUs), post(2 * minuteUs - 1), like(2 * minuteUs)]);
    const minutes = truth.minutesBetween(0, 3 * minuteUs);
    expect(minutes.map(({ startUs, events }) => [startUs, events])).toEqual([
      [0, 1],
      [minuteUs, 2],
      [2 * minuteUs, 1],
    ]);
  });

  it('counts an event once even if several connections received it, and respects the filters of the connections', () => {
    const truth = truthOf([like(10), post(20), like(30), post(40)]);
    truth.opened(delivery(1, [], 0, 2));
    truth.opened(delivery(2, ['app.bsky.feed.like'], 1, 4));
    const { events, metrics } = truth.deliveredBetween(0, 100);
    expect([events, metrics['like.create'], metrics['post.create']]).toEqual([3, 2, 1]);
    expect(truth.delivered()).toEqual([{ fromSeq: 0, toSeq: 4, fromUs: 10, toUs: 40 }]);
    expect([0, 3, 4].map((seq) => truth.wasDelivered(seq))).toEqual([true, true, false]);
  });

  it('merges the deliveries of the oldest connections when there are too many connections to list', () => {
    const frames = Array.from({ length: 6000 }, (_, at) => like(at + 1));
    const truth = truthOf(frames);
    for (let id = 0; id < frames.length; id++) truth.opened(delivery(id, [], id, id + 1));
    expect(truth.deliveries.length).toBe(5000);
    expect(truth.deliveredBetween(0, 10_000).events).toBe(6000);
  });

  it('reports events that were sent twice on one connection', () => {
    const made = delivery(1, [], 0, 10);
    made.add([{ from: 5, to: 12 }], 7);
    expect([made.frames, made.repeated, made.ranges.list]).toEqual([17, 5, [{ from: 0, to: 12 }]]);
  });
});
