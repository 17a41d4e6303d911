import { describe, expect, it } from 'vitest';
import { countDifferences, totalDifferences } from '../../harness/weather/truth-oracle.ts';
import { RecordedSource } from '../../sim/events/recorded.ts';
import { Delivery, Truth } from '../../sim/truth.ts';
import { metricNames } from '../../src/weather/classify/metric-names.ts';
import { windowUs } from '../../src/weather/window/window.ts';

const likes = Array.from(
  { length: 10 },
  (_, i) => `{"time_us":${i + 1},"kind":"commit","commit":{"operation":"create","collection":"app.bsky.feed.like"}}`,
);

/** Returns the record of a host whose first write, of `certain` events, succeeded, and whose second write failed. */
function truthOf({
  certain,
  uncertain,
  frames = likes,
}: {
  certain: number;
  uncertain: number;
  frames?: string[];
}): Truth {
  const truth = new Truth(new RecordedSource({ frames, as: 'history', rate: 1, startUs: 0 }));
  const delivery = new Delivery(1, { wire: 'jetstream.legacy', kinds: [], wantedCollections: [] }, 0);
  delivery.add([{ from: 0, to: certain }], certain);
  delivery.fail([{ from: certain, to: certain + uncertain }]);
  truth.opened(delivery);
  return truth;
}

/** Returns a store with `events` likes in the minute of 1970-01-01T00:00Z. */
function storeOf(
  events: number,
  end: { toUs: number; countedAtEnd: number | null } = { toUs: windowUs, countedAtEnd: null },
) {
  const counts = metricNames.map((name) => (name === 'like.create' ? events : 0));
  const row = { startUs: 0, events, lateOrRepeat: 0, malformed: 0, flags: 0, resync: 0, leftOut: 0, counts };
  return { endpoint: 'ws://host/subscribe', fromUs: 0, ...end, rows: [row] };
}

describe('the comparison of a store with its host', () => {
  it('accepts only the delivered number if every write succeeded', () => {
    const truth = truthOf({ certain: 4, uncertain: 0 });
    const wrong = [3, 4, 5].map((events) => countDifferences({ truth }, storeOf(events)).length > 0);
    expect(wrong).toEqual([true, false, true]);
  });

  it('accepts any number of events of a failed write, because its first part may have arrived', () => {
    const truth = truthOf({ certain: 4, uncertain: 3 });
    const wrong = [3, 4, 6, 7, 8].map((events) => countDifferences({ truth }, storeOf(events)).length > 0);
    expect(wrong).toEqual([true, false, false, false, true]);
  });

  it('requires the exact number of counted events at the end if that number is known, even if these events share one time', () => {
    const frames = likes.map((frame, i) => frame.replace(/\d+/, `${i < 4 ? i + 1 : 5}`));
    const truth = truthOf({ certain: 10, uncertain: 0, frames });
    const differs = (events: number, countedAtEnd: number | null): boolean =>
      countDifferences({ truth }, storeOf(events, { toUs: 5, countedAtEnd })).length > 0;
    expect([5, 6, 7].map((events) => differs(events, 2))).toEqual([true, false, true]);
    expect([4, 5, 10, 11].map((events) => differs(events, null))).toEqual([true, false, false, true]);
  });

  it('names the minute, the count and the possible counts', () => {
    const truth = truthOf({ certain: 4, uncertain: 3 });
    expect(countDifferences({ truth }, storeOf(8))).toEqual([
      '1970-01-01T00:00:00.000Z: 2 counts differ, events is 8, not 4 to 7',
    ]);
  });
});

describe('the comparison of a published summary with its host', () => {
  /** Returns the number of differences for a total and a count of likes. The host delivered 4 to 7 likes. */
  const differs = ({
    total,
    like,
    isRead = true,
  }: {
    total: number;
    like: number | null;
    isRead?: boolean;
  }): number => {
    const likes = like === null ? null : { total: like };
    const window = { start: '1970-01-01T00:00:00.000Z', end: '1970-01-01T00:02:00.000Z' };
    const summary = {
      ...{ source: { endpoint: 'ws://host/subscribe' }, window, total_events: { total } },
      collections: { 'like.create': likes },
    } as unknown as Parameters<typeof totalDifferences>[1];
    return totalDifferences({ truth: truthOf({ certain: 4, uncertain: 3 }) }, summary, isRead ? 0 : null).length;
  };

  it('accepts only counts between the certain and the possible number of delivered events', () => {
    const of = (count: number): number => differs({ total: count, like: count });
    expect([3, 4, 7, 8].map(of)).toEqual([2, 0, 0, 2]);
  });

  it('rejects the total of another host', () => {
    expect([2, 5, 11].map((total) => differs({ total, like: 5 }))).toEqual([1, 0, 1]);
  });

  it('accepts lower counts of a host whose events are not all read yet, and a collection without a count', () => {
    expect(differs({ total: 0, like: 3, isRead: false })).toBe(0);
    expect(differs({ total: 8, like: 8, isRead: false })).toBe(2);
    expect(differs({ total: 5, like: null })).toBe(0);
  });
});
