import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coverage, type Interval, ObservedSpans, union, windowStart } from './window.ts';

const second = 1_000_000;
const minute = 60 * second;

/** Records a span of one second at each of the given seconds. */
function seconds(spans: ObservedSpans, starts: readonly number[]): void {
  for (const start of starts) {
    spans.open(start * second);
    spans.extend(start * second + second - 1);
  }
}

const everyThird = Array.from({ length: 17 }, (_, i) => i * 3);
/** The first 16 of these spans. The last one also has the length of the 17th. */
const keptThirds = everyThird
  .slice(0, 16)
  .map((start) => ({ from: start * second, to: (start + (start === 45 ? 2 : 1)) * second }));

describe('the spans of a window with more than 16 interruptions', () => {
  test('are the first 16 spans, and the whole newest span if it continues in the next window', () => {
    const spans = new ObservedSpans();
    seconds(spans, [...everyThird, 52]);
    spans.extend(minute + second);
    expect(spans.take()).toEqual([...keptThirds, { from: 52 * second, to: minute + second + 1 }]);
  });

  test('include the whole newest span even if results are taken while it lasts', () => {
    const spans = new ObservedSpans();
    seconds(spans, everyThird);
    expect(spans.take()).toHaveLength(16);
    spans.extend(55 * second);
    expect(spans.take()).toEqual([]);
    spans.extend(minute);
    expect(spans.take()).toEqual([{ from: 48 * second, to: minute + 1 }]);
    spans.extend(minute + second);
    expect(spans.take()).toEqual([{ from: minute + 1, to: minute + second + 1 }]);
  });

  test('have the length of a later span that ends in the same window, but not its place', () => {
    const spans = new ObservedSpans();
    seconds(spans, [...everyThird, 62]);
    expect(spans.take()).toEqual([...keptThirds, { from: 62 * second, to: 63 * second }]);
  });

  test('have that length even if the earlier spans were taken before the span ended', () => {
    const spans = new ObservedSpans();
    seconds(spans, everyThird);
    const taken = spans.take();
    seconds(spans, [51, 62]);
    expect(spans.take()).toEqual([
      { from: 46 * second, to: 48 * second },
      { from: 62 * second, to: 63 * second },
    ]);
    expect(taken.at(-1)).toEqual({ from: 45 * second, to: 46 * second });
  });

  test('do not grow if the stream goes back and the same time is observed again', () => {
    const spans = new ObservedSpans();
    seconds(spans, [...everyThird, 50, 20, 48, 62]);
    const longer = { from: 45 * second, to: 48 * second };
    expect(spans.take()).toEqual([...keptThirds.slice(0, 15), longer, { from: 62 * second, to: 63 * second }]);
  });

  test('include the whole newest span that continues in the next window if the stream came back from there', () => {
    const spans = new ObservedSpans();
    // The first time is too late. The position is then abandoned, and the stream goes back.
    seconds(spans, [90, ...everyThird]);
    spans.extend(70 * second);
    expect(spans.take()).toEqual([
      ...everyThird.slice(0, 16).map((start) => ({ from: start * second, to: (start + 1) * second })),
      { from: 48 * second, to: 70 * second + 1 },
      { from: 90 * second, to: 91 * second },
    ]);
  });

  test('make no later window longer if the stream came back from there', () => {
    const spans = new ObservedSpans();
    seconds(spans, [90, ...everyThird, 52, 100]);
    expect([...coverage(spans.take(), 0, minute, 2)]).toEqual([16 * second, 2 * second]);
  });
});

test('the observed time of every window is that of all its spans, however many they are, in at most 17 sorted and disjoint spans', () => {
  const step = fc.record({
    // 0: the span begins at the last event of the span before, which both contain.
    pause: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 4 * second })),
    length: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 4 * second })),
    take: fc.boolean(),
  });
  const windows = 40;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const spans = new ObservedSpans();
      const taken: Interval[] = [];
      const wanted: Interval[] = [];
      const collect = (): void => {
        const part = spans.take();
        // Spans that are not sorted, touch or overlap would change.
        expect(union(part)).toEqual(part);
        taken.push(...part);
      };
      let now = 0;
      for (const { pause, length, take } of steps) {
        const from = now + pause;
        now = from + length;
        if (now >= (windows - 1) * minute) break;
        spans.open(from);
        spans.extend(from);
        if (take) collect();
        spans.extend(now);
        if (take) collect();
        wanted.push({ from, to: now + 1 });
      }
      // The next span of the stream, in another window.
      spans.open(windows * minute);
      collect();
      const kept = union(taken);
      expect([...coverage(kept, 0, minute, windows)]).toEqual([...coverage(union(wanted), 0, minute, windows)]);
      const started = Map.groupBy(kept, ({ from }) => windowStart(from));
      for (const own of started.values()) expect(own.length).toBeLessThanOrEqual(17);
    }),
    { numRuns: 300 },
  );
});

test('the spans of a window with at most 16 interruptions are the same no matter when they are taken', () => {
  const step = fc.record({
    pause: fc.integer({ min: 1, max: 30 }),
    length: fc.integer({ min: 0, max: 90 }),
    take: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const spans = new ObservedSpans();
      const taken: Interval[] = [];
      const wanted: Interval[] = [];
      let now = 0;
      for (const { pause, length, take } of steps) {
        // At most ten spans begin in a window.
        const from = now + (5 + pause) * second;
        now = from + length * second;
        spans.open(from);
        spans.extend(from);
        if (take) taken.push(...spans.take());
        spans.extend(now);
        wanted.push({ from, to: now + 1 });
      }
      expect(union([...taken, ...spans.take()])).toEqual(union(wanted));
    }),
  );
});
