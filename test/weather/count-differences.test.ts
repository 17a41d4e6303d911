import { describe, expect, it } from 'vitest';
import { countDifferences } from '../../harness/weather/truth-oracle.ts';
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
